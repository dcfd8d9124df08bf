"""The most a call can cost: every answer it asks for, prompts that lie elsewhere, and nothing that has no price."""

import pytest

from overclock.recipe.gateway import Prices
from overclock.recipe.gateway.dialects.unseen import LONGEST_PROMPT, PICTURE

LETTERS = {"type": "object", "properties": {"image_url": {"type": "string"}, "file_id": {"type": "string"}}}
PNG = {"type": "base64", "media_type": "image/png", "data": "iVBORw0K"}
PDF = {"type": "base64", "media_type": "application/pdf", "data": "JVBERi0x"}


@pytest.fixture
def prices(tmp_path):
    """A dollar per million tokens of either kind, so that dollars are tokens."""
    path = tmp_path / "prices.toml"
    path.write_text("[models]\nm = {input=1, output=1, max_output=1000}")
    return Prices.load(path)


def parts(dialect, *content):
    """The fields of a request whose prompt has these parts."""
    if dialect == "gemini":
        return {"contents": [{"role": "user", "parts": list(content)}]}
    return {"input" if dialect == "responses" else "messages": [{"role": "user", "content": list(content)}]}


@pytest.fixture
def asking(prices, open_gateway, client, canned, heard, first_request):
    """The tokens set aside for a small request with these fields; where it is refused the status and the message."""
    gateway = open_gateway(canned(b"{}"), prices=prices, cap=1e3, recorder=heard)

    def tokens(dialect, fields, **options):
        path, body = first_request(dialect, model="m", **options)
        response = client.post(gateway.base_url(dialect) + path, json={**body, **fields})
        if response.status_code != 200:
            return response.status_code, response.json()["error"]["message"]
        return round(heard.exchanges[-1].reserved * 1e6)

    return tokens


@pytest.mark.parametrize("number", [8, "8", 8.0])
def test_every_answer_that_is_asked_for_is_reserved(asking, number):
    one, many = (asking("chat", {"n": n, "max_completion_tokens": 100}) for n in (1, number))
    assert many - one == pytest.approx(700, abs=3)  # the rest is a longer body
    one, many = (asking("gemini", {"generationConfig": {"candidateCount": n}}) for n in (1, number))
    assert many - one == pytest.approx(7000, abs=3)


def test_without_a_limit_every_answer_is_as_long_as_the_model_makes_it(asking):
    assert asking("chat", {"n": 64}) - asking("chat", {"n": 1}) == pytest.approx(63 * 1000, abs=3)


def test_the_larger_of_two_limits_is_reserved(asking):
    either = {"max_completion_tokens": 1, "max_tokens": 900}
    assert asking("chat", either) - asking("chat", {"max_tokens": 1}) == pytest.approx(899, abs=20)


def test_rare_characters_are_reserved_byte_by_byte(asking):
    rare, plain = (asking("chat", {"messages": [], "user": text}) for text in ("\U00020000" * 300, "x" * 1200))
    assert rare >= plain > 400
    # httpx sends JSON as UTF-8: four bytes for each, and a tokenizer may make a token of every one of them
    assert rare - asking("chat", {"messages": [], "user": ""}) >= 1200


@pytest.mark.parametrize(
    ("dialect", "part"),
    [
        ("anthropic", {"type": "document", "source": {"type": "url", "url": "https://example.com/long.pdf"}}),
        ("anthropic", {"type": "image", "source": {"type": "file", "file_id": "file_1"}}),
        ("anthropic", {"type": "tool_result", "content": [{"type": "document", "source": PDF}]}),
        ("chat", {"type": "image_url", "image_url": {"url": "https://example.com/a.png"}}),
        ("chat", {"type": "file", "file": {"file_id": "file-1"}}),
        ("chat", {"type": "file", "file": {"file_data": "data:application/pdf;base64,JVBERi0x"}}),
        ("responses", {"type": "input_file", "file_url": "https://example.com/long.pdf"}),
        ("responses", {"type": "input_image", "image_url": "https://example.com/a.png"}),
        ("gemini", {"fileData": {"fileUri": "https://example.com/film.mp4"}}),
        ("gemini", {"file_data": {"file_uri": "https://example.com/film.mp4"}}),
        ("gemini", {"inlineData": {"mimeType": "application/pdf", "data": "JVBERi0x"}}),
    ],
)
def test_what_lies_elsewhere_or_unfolds_is_reserved_as_the_longest_prompt(asking, dialect, part):
    assert asking(dialect, parts(dialect, part)) > LONGEST_PROMPT


@pytest.mark.parametrize(
    ("dialect", "fields"),
    [
        ("responses", {"previous_response_id": "resp_1"}),
        ("responses", {"conversation": "conv_1"}),
        ("responses", {"input": [{"id": "msg_1"}]}),
        ("responses", {"input": [{"type": "item_reference", "id": "msg_1"}]}),
        ("gemini", {"cachedContent": "cachedContents/1"}),
    ],
)
def test_what_the_provider_keeps_is_reserved_as_the_longest_prompt(asking, dialect, fields):
    assert asking(dialect, fields) > LONGEST_PROMPT


@pytest.mark.parametrize(
    ("dialect", "part"),
    [
        ("anthropic", {"type": "image", "source": PNG}),
        ("chat", {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0K"}}),
        ("responses", {"type": "input_image", "image_url": "data:image/png;base64,iVBORw0K"}),
        ("gemini", {"inlineData": {"mimeType": "image/png", "data": "iVBORw0K"}}),
    ],
)
def test_a_picture_in_the_request_is_reserved_as_the_largest_picture(asking, dialect, part):
    one, two = asking(dialect, parts(dialect, part)), asking(dialect, parts(dialect, part, part))
    assert PICTURE < one < 2 * PICTURE < two < 3 * PICTURE


def test_a_tool_may_have_arguments_called_like_a_file(asking, dialect):
    assert asking(dialect, {}, tools={"look": LETTERS}) < 2000


@pytest.mark.parametrize(
    ("dialect", "fields", "says"),
    [
        ("anthropic", {"tools": [{"type": "web_search_20250305", "name": "web_search"}]}, "web_search_20250305"),
        ("anthropic", {"mcp_servers": [{"type": "url", "url": "https://example.com"}]}, "mcp_servers"),
        ("anthropic", {"speed": "fast"}, "speed"),
        ("anthropic", {"context_management": {"edits": [{"type": "compact_20260112"}]}}, "compaction"),
        ("chat", {"web_search_options": {"search_context_size": "high"}}, "web_search_options"),
        ("chat", {"models": ["another"]}, "models"),
        ("chat", {"service_tier": "priority"}, "service_tier"),
        ("responses", {"tools": [{"type": "web_search"}]}, "web_search"),
        ("responses", {"tools": [{"type": "namespace", "name": "x", "tools": [{"type": "mcp"}]}]}, "namespace"),
        ("responses", {"input": [{"type": "additional_tools", "tools": [{"type": "image_generation"}]}]}, "image_gen"),
        ("responses", {"service_tier": "priority"}, "service_tier"),
        ("gemini", {"tools": [{"googleSearch": {}}]}, "googleSearch"),
        ("gemini", {"tools": {"googleSearch": {}}}, "googleSearch"),
        ("gemini", {"tools": [{"functionDeclarations": [], "urlContext": {}}]}, "functionDeclarations"),
        ("gemini", {"serviceTier": "PRIORITY"}, "serviceTier"),
        ("gemini", {"generation_config": {"candidate_count": 8}}, "generation_config"),
        ("gemini", {"generationConfig": {"candidate_count": 8}}, "candidate_count"),
    ],
)
def test_what_is_paid_beside_tokens_is_refused_under_a_cap(asking, heard, dialect, fields, says):
    status, message = asking(dialect, fields)
    assert status == 400
    assert says in message
    assert "run without a budget" in message
    assert (heard.closed()[-1].status, heard.closed()[-1].charged) == (400, "nothing")


@pytest.mark.parametrize(
    ("dialect", "fields"),
    [
        ("anthropic", {"tools": [{"type": "bash_20250124", "name": "bash"}, {"name": "mine", "input_schema": {}}]}),
        ("anthropic", {"service_tier": "standard_only"}),
        ("chat", {"enable_search": False, "modalities": ["text"], "service_tier": "auto"}),
        ("responses", {"tools": [{"type": "custom", "name": "x"}, {"type": "tool_search", "execution": "client"}]}),
        ("responses", {"tools": [{"type": "namespace", "name": "x", "tools": [{"type": "function"}]}]}),
    ],
)
def test_what_agents_run_themselves_is_let_through(asking, dialect, fields):
    assert asking(dialect, fields) < 2000


def test_without_a_cap_nothing_of_it_is_refused(open_gateway, send, canned):
    assert send(open_gateway(canned(b"{}")), "chat", service_tier="priority").status_code == 200
