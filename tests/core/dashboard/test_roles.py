"""Names, roles and passwords of users."""

from __future__ import annotations

import pytest

from storebot.core.dashboard.roles import Role, check_name, check_password, role_named
from storebot.exceptions import ConfigurationError


def test_only_operators_act() -> None:
    assert [role for role in Role if role.acts] == [Role.OPERATOR]
    assert role_named("viewer") is Role.VIEWER
    with pytest.raises(ConfigurationError, match="role 'root': expected one of viewer, operator"):
        role_named("root")


@pytest.mark.parametrize("name", ["anna", "a.b-c_d@example.com", "7", "x" * 64])
def test_names_are_letters_digits_and_a_few_signs(name: str) -> None:
    check_name(name)


@pytest.mark.parametrize("name", ["", "a b", "-x", "x" * 65, "añna", "a\n", "<b>"])
def test_other_names_are_refused(name: str) -> None:
    with pytest.raises(ConfigurationError, match="expected up to 64 letters"):
        check_name(name)


def test_a_password_has_a_least_and_a_greatest_length() -> None:
    check_password("twelve chars")
    for password in ("elevenchars", "x" * 257):
        with pytest.raises(ConfigurationError, match="12 to 256 characters"):
            check_password(password)
