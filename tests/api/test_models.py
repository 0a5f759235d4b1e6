"""The answer structs that other routes write."""

from __future__ import annotations

import msgspec

from typecase.api.models import ModelCard, ModelList, ModelPermission
from typecase.api.tokenize import DetokenizeResponse, TokenizeResponse


def test_the_model_list_is_the_peers() -> None:
    permission = ModelPermission(id="modelperm-1", created=7)
    card = ModelCard(id="m", created=7, root="./m", max_model_len=64, permission=[permission])
    assert msgspec.json.encode(ModelList(data=[card])) == (
        b'{"object":"list","data":[{"id":"m","object":"model","created":7,"owned_by":"vllm","root":"./m","parent":null,'
        b'"max_model_len":64,"permission":[{"id":"modelperm-1","object":"model_permission","created":7,'
        b'"allow_create_engine":false,"allow_sampling":true,"allow_logprobs":true,"allow_search_indices":false,'
        b'"allow_view":true,"allow_fine_tuning":false,"organization":"*","group":null,"is_blocking":false}]}]}'
    )


def test_token_answers() -> None:
    assert msgspec.json.encode(TokenizeResponse(count=1, max_model_len=64, tokens=[87])) == (
        b'{"count":1,"max_model_len":64,"tokens":[87],"token_strs":null}'
    )
    assert msgspec.json.encode(DetokenizeResponse(prompt="é")) == '{"prompt":"é"}'.encode()
