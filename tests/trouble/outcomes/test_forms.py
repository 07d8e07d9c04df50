"""Forms are looked for only in texts that have one of their signs: no text with a form may be without one."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from whet.trouble.outcomes.check_forms import CHECKS, ENDINGS
from whet.trouble.outcomes.error_forms import ErrorForm, Forms
from whet.trouble.outcomes.refusal_forms import CANCELLATIONS, OWN_CANCELLATIONS, OWN_REJECTIONS, REJECTIONS

TABLES = (OWN_REJECTIONS, OWN_CANCELLATIONS, REJECTIONS, CANCELLATIONS, ENDINGS, CHECKS)
CASES = [pytest.param(table, form, id=form.name) for table in TABLES for form in table.forms]


@pytest.mark.parametrize(("table", "form"), CASES)
def test_whatever_has_a_form_has_a_sign(table: Forms, form: ErrorForm) -> None:
    pattern = re.compile(form.pattern.replace(r"\z", r"\Z"), re.ASCII)

    @settings(max_examples=25)
    @given(st.from_regex(pattern))
    def has_a_sign(text: str) -> None:
        assert any(sign in text.lower() for sign in table.signs)

    has_a_sign()
