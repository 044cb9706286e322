"""Checks arguments, coerces what models send, names what is wrong."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from difflib import get_close_matches
from typing import Annotated, Any, get_args

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator
from pydantic_core import ErrorDetails, PydanticCustomError

from ..errors import Invalid

OTHER_NAMES = {
    **dict.fromkeys(("file_path", "filePath", "filepath", "notebook_path", "dir_path", "directory"), "path"),
    **dict.fromkeys(("file", "filename", "file_name", "fileName", "target_file", "targetFile", "uri"), "path"),
    **dict.fromkeys(("absolute_path", "absolutePath", "relative_path", "relativePath"), "path"),
    **dict.fromkeys(("notebookPath", "dirPath", "directory_path", "target_directory", "folder", "dir"), "path"),
    **dict.fromkeys(("oldString", "old_str", "oldStr", "old_text", "oldText"), "old_string"),
    **dict.fromkeys(("old", "search", "find"), "old_string"),
    **dict.fromkeys(("newString", "new_str", "newStr", "new_text", "newText"), "new_string"),
    **dict.fromkeys(("new", "replace", "replacement"), "new_string"),
    **dict.fromkeys(("replaceAll", "allow_multiple", "allowMultiple"), "replace_all"),
    "replacements": "edits",
    **dict.fromkeys(("cellId", "cell", "id"), "cell_id"),
    **dict.fromkeys(("cell_number", "cell_index", "cellNumber", "cellIndex"), "index"),
    **dict.fromkeys(("newSource", "source", "new_code", "newCode"), "new_source"),
    **dict.fromkeys(("cell_source", "cellSource", "cell_content", "cellContent"), "new_source"),
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
    "sourceColumn": "source_column",
    "mimeType": "mime_type",
    "changeId": "change_id",
    "createOnly": "create_only",
    **dict.fromkeys(("file_text", "fileText", "text", "contents", "file_content", "fileContent"), "content"),
    **dict.fromkeys(("query", "regex"), "pattern"),
    **dict.fromkeys(("include", "include_pattern", "includePattern"), "glob"),
    **dict.fromkeys(("glob_pattern", "globPattern", "file_pattern", "filePattern"), "glob"),
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
    **dict.fromkeys(("cmd", "script"), "command"),
    **dict.fromkeys(("workdir", "working_directory", "workingDirectory"), "cwd"),
    **dict.fromkeys(("timeout_seconds", "timeoutSeconds"), "timeout"),
    "environment": "env",
}
"""Maps argument names that models know from other tools to ours."""

_OR_ELSE = {"glob": "pattern", "cell_id": "change_id", "content": "new_source"}
"""Second meanings of names, for tools that lack the argument of the first meaning."""

MOST_EDITS = 10_000
"""Edits in one call."""
MOST_FILES = 100
"""Files that one call may change."""

_MOST = 2**63 - 1
_MOST_NAMES = 100
"""Most problems that are named: to name each of many more would take seconds."""
_IN_PLAIN_WORDS = {
    **dict.fromkeys(("dict_type", "model_type"), "takes an object"),
    "list_type": "takes a list",
    "greater_than_equal": "takes {ge} or more",
    "less_than_equal": "takes {le} or less",
    "too_short": "takes a length of {min_length} or more",
    "too_long": "takes a length of {max_length} or less",
}
_WHOLE = re.compile(r"[+-]?\d{1,4000}")
_BESIDE_OTHERS = "beside_others"
_SAID_WHOLE = ("value_error", _BESIDE_OTHERS)


def _whole(value: Any) -> Any:
    """A whole number; "5", " +5 " and 5.0 too, but no 5.5, no NaN and no boolean."""
    if isinstance(value, bool):
        raise ValueError("takes a whole number, got a boolean")
    if isinstance(value, str) and _WHOLE.fullmatch(value.strip()):
        value = int(value.strip())
    elif isinstance(value, float) and value.is_integer():
        value = int(value)
    if not isinstance(value, int):
        raise ValueError(f"takes a whole number, got {spelled(value)}")
    return max(-_MOST, min(value, _MOST))


def _seconds(value: Any) -> Any:
    """A number of seconds above 0; "5" and "1.5" too."""
    try:
        seconds = math.nan if isinstance(value, bool) else float(value)
    except (TypeError, ValueError, OverflowError):
        seconds = math.nan
    if not 0 < seconds < math.inf:
        raise ValueError(f"takes a number of seconds above 0, got {spelled(value)}")
    return seconds


def _flag(value: Any) -> Any:
    """True or false; "true" and "false" in any case too."""
    if isinstance(value, str) and value.strip().lower() in ("true", "false"):
        return value.strip().lower() == "true"
    if not isinstance(value, bool):
        raise ValueError(f"takes true or false, got {spelled(value)}")
    return value


def _list(value: Any) -> Any:
    """A list; also its JSON, as some clients send nested values, or a single object."""
    if isinstance(value, str) and value.lstrip().startswith(("[", "{")):
        with suppress(ValueError, RecursionError):
            value = json.loads(value)
    return [value] if isinstance(value, dict) else value


def _text(value: Any) -> Any:
    if not isinstance(value, str):
        raise ValueError(f"takes a string, got {spelled(value)}")
    return value


def spelled(value: Any) -> str:
    """A value as a refusal names it: short, and in plain ASCII."""
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    if isinstance(value, (dict, list)):
        return "an object" if isinstance(value, dict) else "a list"
    if isinstance(value, int) and abs(value) > _MOST:
        return "a huge number"  # Python does not print numbers of thousands of digits.
    text = ascii(value)
    return text if len(text) <= 60 else f"{text[:57]}..."  # Enough to recognise it.


# The bound comes before the validator, so that it becomes "minimum" in the schema.
Count = Annotated[int, Field(ge=0), BeforeValidator(_whole)]
Ordinal = Annotated[int, Field(ge=1), BeforeValidator(_whole)]
PageSize = Annotated[int, Field(ge=1, le=1000), BeforeValidator(_whole)]
Seconds = Annotated[float, Field(gt=0), BeforeValidator(_seconds)]
Flag = Annotated[bool, BeforeValidator(_flag)]
Text = Annotated[str, BeforeValidator(_text)]
AsList = BeforeValidator(_list)


class Arguments(BaseModel):
    """The arguments of one tool; unknown ones are refused."""

    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True)

    @model_validator(mode="before")
    @classmethod
    def _by_our_names(cls, given: Any) -> Any:
        if not isinstance(given, dict):
            return given
        fields = cls.model_fields
        if len(given) > _MOST_NAMES:
            raise ValueError(f"takes {len(fields)} arguments at most, got {len(given)}")
        named: dict[Any, Any] = {}
        for name, value in given.items():
            ours = name if name in fields else _our_name(name, fields)
            if value is None and ours in fields and not fields[ours].is_required():
                continue  # Many clients send null for arguments that they leave out.
            if ours in named:
                raise beside_others(ours, f"is given twice, once as {name}")
            named[ours] = value
        return named


def _our_name(name: Any, fields: Mapping[str, Any]) -> Any:
    other: str = OTHER_NAMES.get(name) or name
    return next((one for one in (other, _OR_ELSE.get(other)) if one in fields), name)


PathArgument = Annotated[
    Text,
    Field(
        description="Path of the file, relative to the root.",
    ),
]


def paths_of(call: str | None, edits: Sequence[str | None], *, single: bool) -> list[str]:
    """The path of each edit's file: its own, or the call's; `single`: the edit's fields are at top level.

    Raises:
        Invalid: there is no edit, one has no path, or edits or paths are too many.
    """
    if not edits:
        raise Invalid("edits: an empty list changes nothing", hint="Give at least one edit.", field="edits")
    if len(edits) > MOST_EDITS:
        raise Invalid(f"edits: takes at most {MOST_EDITS}, got {len(edits)}", hint="Split the call.", field="edits")
    paths = [call if path is None else path for path in edits]
    named = [path for path in paths if path is not None]
    if len(named) < len(paths):
        field = "path" if single else f"edits.{paths.index(None)}.path"
        raise Invalid(f"{field}: is required", hint="Name the file, for all edits or in each.", field=field)
    if len(set(named)) > MOST_FILES:
        raise Invalid(f"edits: one call edits at most {MOST_FILES} files", hint="Split the call.", field="edits")
    return named


def beside_others(field: str, problem: str) -> PydanticCustomError:
    """The problem of an argument beside the others: pydantic's own errors of a whole model name no field."""
    return PydanticCustomError(_BESIDE_OTHERS, "{problem}", {"field": field, "problem": problem})


def refused(error: ValidationError, model: type[Arguments], who: str = "It") -> Invalid:
    """The refusal of invalid arguments, from which a caller can correct all of them at once.

    Args:
        error: the problems; each field is named, with the value it takes and the one it got.
        model: the model of the arguments; its names are the answer to unknown or missing ones.
        who: name of the recipient, for the hint.
    """
    problems, fields, hints = [], [], []
    for one in error.errors(include_url=False):
        own = (one["ctx"]["field"],) if one["type"] == _BESIDE_OTHERS else ()
        field = ".".join(names_to((*one["loc"], *own)))[:80] or "arguments"
        fields.append(field)
        if one["type"] in ("extra_forbidden", "missing"):
            asked = _model_at(model, one["loc"])
            hints.append(_what_it_takes(asked, field.rpartition(".")[0] or who))
            meant = _meant(asked, one["loc"][-1]) if one["type"] == "extra_forbidden" else None
            said = f"unknown argument{f' (did you mean {meant}?)' if meant else ''}"
            problems.append(f"{field}: {said if one['type'] == 'extra_forbidden' else 'is required'}")
        else:
            said = _in_plain_words(one)
            if said.startswith("takes ") and fields[-2:] == [field, field]:
                # Each alternative of a union type is reported by itself.
                said = f"{problems.pop().partition(', got ')[0]}, or {said.removeprefix('takes ')}"
                fields.pop()
            else:
                said = f"{field}: {said}"
            problems.append(said)
    return Invalid(
        "; ".join(problems[:5]),
        hint=" ".join([*dict.fromkeys(hints[:5]), "Correct the arguments and call again."]),
        field=fields[0],
        fields=fields[:5],
    )


def _in_plain_words(error: ErrorDetails) -> str:
    """Why a value is invalid: usually the values its field takes, and the one it got."""
    plain = _IN_PLAIN_WORDS.get(error["type"])
    said = plain.format_map(error.get("ctx", {})) if plain else error["msg"]
    said = re.sub("^Value error, ", "", re.sub("^Input should be ", "takes ", said))
    got = f", got {spelled(error['input'])}" if ", got " not in said and error["type"] not in _SAID_WHOLE else ""
    return f"{said[:1].lower()}{said[1:]}{got}"


def names_to(where: Sequence[int | str]) -> list[str]:
    """The names on the way to a field, without pydantic's own names for alternatives of a type."""
    names = [str(part) for part in where if "[" not in str(part)]
    return names[:-1] if len(names) > 1 and names[-1] in ("str", "int") else names


def _what_it_takes(model: type[Arguments], who: str) -> str:
    required = [name for name, field in model.model_fields.items() if field.is_required()]
    optional = [name for name in model.model_fields if name not in required]
    named = [*required, *([f"{'and ' if required else ''}optionally {', '.join(optional)}"] if optional else [])]
    return f"{who} takes {', '.join(named) or 'no arguments'}."


def _meant(model: type[Arguments], name: int | str) -> str | None:
    near = get_close_matches(str(name)[:80].lower(), model.model_fields, 1, 0.75)
    return near[0] if near else None


def _model_at(model: type[Arguments], where: Sequence[int | str]) -> type[Arguments]:
    """The model of the object that holds a field."""
    for name in where[:-1]:
        if isinstance(name, str) and name in model.model_fields:
            model = next(_models_in(model.model_fields[name].annotation), model)
    return model


def _models_in(annotation: Any) -> Iterator[type[Arguments]]:
    if isinstance(annotation, type) and issubclass(annotation, Arguments):
        yield annotation
    for part in get_args(annotation):
        yield from _models_in(part)
