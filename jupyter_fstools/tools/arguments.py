"""What tools take: argument types that accept what models send, and say exactly what is wrong with the rest."""

from __future__ import annotations

import re
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from ..errors import Invalid

OTHER_NAMES = {
    **dict.fromkeys(("file_path", "filePath", "filepath", "notebook_path", "dir_path", "directory"), "path"),
    **dict.fromkeys(("oldString", "old_str", "oldStr", "old_text", "oldText"), "old_string"),
    **dict.fromkeys(("newString", "new_str", "newStr", "new_text", "newText"), "new_string"),
    "replaceAll": "replace_all",
    **dict.fromkeys(("cellId", "cell"), "cell_id"),
    **dict.fromkeys(("cell_number", "cell_index", "cellNumber", "cellIndex"), "index"),
    **dict.fromkeys(("newSource", "source"), "new_source"),
    **dict.fromkeys(("editMode", "mode"), "edit_mode"),
    "cellType": "cell_type",
    **dict.fromkeys(("insert_after", "insertAfter"), "after"),
    **dict.fromkeys(("insert_before", "insertBefore"), "before"),
    "afterIndex": "after_index",
    "beforeIndex": "before_index",
    "keepOutputs": "keep_outputs",
    "outputIndex": "output_index",
    "outputOffset": "output_offset",
    "sourceOffset": "source_offset",
    "sourceLimit": "source_limit",
    "mimeType": "mime_type",
    "changeId": "change_id",
    "createOnly": "create_only",
    "file_text": "content",
    **dict.fromkeys(("query", "regex"), "pattern"),
    **dict.fromkeys(("include", "glob_pattern"), "glob"),
    **dict.fromkeys(("type", "fileType"), "file_type"),
    **dict.fromkeys(("-i", "ignore_case", "ignoreCase", "caseInsensitive"), "case_insensitive"),
    **dict.fromkeys(("-F", "fixed_strings", "fixedStrings"), "literal"),
    "-U": "multiline",
    **dict.fromkeys(("-B", "before_context", "beforeLines"), "before_lines"),
    **dict.fromkeys(("-A", "after_context", "afterLines"), "after_lines"),
    "outputMode": "output_mode",
    **dict.fromkeys(("head_limit", "max_results", "maxResults"), "limit"),
    **dict.fromkeys(("hidden", "includeHidden"), "include_hidden"),
    **dict.fromkeys(("no_ignore", "includeIgnored"), "include_ignored"),
    "includeOutputs": "include_outputs",
}
"""Names that models know from other tools, and ours."""

_MOST = 2**63 - 1
_WHOLE = re.compile(r"[+-]?\d{1,4000}")


def _whole(value: Any) -> Any:
    """A whole number; "5", " +5 " and 5.0 too, but no 5.5, no NaN and no boolean."""
    if isinstance(value, bool):
        raise ValueError("takes a whole number, got a boolean")
    if isinstance(value, str) and _WHOLE.fullmatch(value.strip()):
        value = int(value.strip())
    elif isinstance(value, float) and value.is_integer():
        value = int(value)
    if not isinstance(value, int):
        raise ValueError(f"takes a whole number, got {_spelled(value)}")
    return max(-_MOST, min(value, _MOST))


def _flag(value: Any) -> Any:
    """True or false; "true" and "false" in any case too."""
    if isinstance(value, str) and value.strip().lower() in ("true", "false"):
        return value.strip().lower() == "true"
    if not isinstance(value, bool):
        raise ValueError(f"takes true or false, got {_spelled(value)}")
    return value


def _text(value: Any) -> Any:
    if not isinstance(value, str):
        raise ValueError(f"takes a string, got {_spelled(value)}")
    return value


def _spelled(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, (dict, list)):
        return "an object" if isinstance(value, dict) else "a list"
    if isinstance(value, int) and abs(value) > _MOST:
        return "a huge number"  # Python spells no number of thousands of digits
    text = ascii(value)
    return text if len(text) <= 60 else f"{text[:57]}..."  # enough to recognise it


# The bound stands before the validator: so it becomes "minimum" in the schema.
Count = Annotated[int, Field(ge=0), BeforeValidator(_whole)]
Ordinal = Annotated[int, Field(ge=1), BeforeValidator(_whole)]
Flag = Annotated[bool, BeforeValidator(_flag)]
Text = Annotated[str, BeforeValidator(_text)]


class Arguments(BaseModel):
    """The arguments of one tool; unknown ones are refused."""

    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True)

    @model_validator(mode="before")
    @classmethod
    def _by_our_names(cls, given: Any) -> Any:
        if not isinstance(given, dict):
            return given
        named: dict[Any, Any] = {}
        for name, value in given.items():
            ours = name if name in cls.model_fields else OTHER_NAMES.get(name, name)
            ours = ours if ours in cls.model_fields else name
            if value is None and ours in cls.model_fields and not cls.model_fields[ours].is_required():
                continue  # Many clients send null for what they leave out.
            if ours in named:
                raise ValueError(f"{ours} is given twice, once as {name}")
            named[ours] = value
        return named


PathArgument = Annotated[
    Text,
    Field(
        description="Path of the file, relative to the root (or absolute inside it), with /.",
    ),
]


def refused(error: ValidationError) -> Invalid:
    """The refusal for arguments that do not fit: names each field, what it takes and what it got."""
    problems, fields = [], []
    for one in error.errors(include_url=False):
        field = ".".join(str(part) for part in one["loc"])[:80] or "arguments"
        fields.append(field)
        if one["type"] == "extra_forbidden":
            problems.append(f"{field}: unknown argument")
        elif one["type"] == "missing":
            problems.append(f"{field}: is required")
        else:
            message = one["msg"].removeprefix("Value error, ")
            got = f", got {_spelled(one['input'])}" if ", got " not in message and one["type"] != "value_error" else ""
            problems.append(f"{field}: {message[:1].lower()}{message[1:]}{got}")
    return Invalid(
        "; ".join(problems[:5]),
        hint="Correct the arguments and call again.",
        field=fields[0],
        fields=fields[:5],
    )
