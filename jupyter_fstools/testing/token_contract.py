"""Tests what every `Store` must do with tokens."""

from __future__ import annotations

from typing import Any

from ..stores.protocol import Store
from ..stores.records import Token
from .store_samples import StoreFixtures


def token_of(id: str, user: str = "ann", created_at: float = 1.0, **fields: Any) -> Token:
    """A token with every field set."""
    given: dict[str, Any] = {"tools": ["grep"], "paths": ["docs/"], "expires_at": 9.0, **fields}
    return Token(id=id, user=user, name=f"n {id}", session="s", created_at=created_at, **given)


class TokenContract(StoreFixtures):
    """Tokens: found by the digest of their secret, listed and dropped by their user."""

    def test_there_are_no_tokens_at_first(self, store: Store) -> None:
        assert store.token("d", 1.0) is None
        assert store.tokens("ann") == []
        assert not store.drop_token("ann", "a")

    def test_a_token_is_found_by_its_digest_and_its_use_is_noted(self, store: Store) -> None:
        given = token_of("a", tools="read", expires_at=None)
        store.add_token(given, "d")
        assert store.tokens("ann") == [given]
        assert store.token("a", 5.0) is None
        used = given.model_copy(update={"last_used_at": 500.0})
        assert store.token("d", 500.0) == used
        assert store.token("d", 501.0) == used
        assert store.tokens("ann") == [used]
        later = store.token("d", 600.0)
        assert later is not None and later.last_used_at == 600.0

    def test_tokens_are_listed_newest_first_for_their_user_alone(self, store: Store) -> None:
        for id, user, created_at in (("a", "ann", 1.0), ("b", "bob", 2.0), ("c", "ann", 3.0), ("d", "ann", 3.0)):
            store.add_token(token_of(id, user, created_at), f"digest {id}")
        assert [token.id for token in store.tokens("ann")] == ["d", "c", "a"]
        assert [token.id for token in store.tokens("bob")] == ["b"]

    def test_only_its_user_drops_a_token_and_then_it_is_gone(self, store: Store) -> None:
        store.add_token(token_of("a"), "d")
        assert not store.drop_token("bob", "a")
        assert store.drop_token("ann", "a")
        assert store.token("d", 5.0) is None
        assert store.tokens("ann") == []

    def test_tokens_outlive_close(self, store: Store) -> None:
        store.add_token(token_of("a"), "d")
        store.close()
        assert store.token("d", 5.0) is not None
