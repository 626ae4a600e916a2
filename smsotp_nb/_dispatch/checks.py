"""What a call of ``send`` was given, checked before anything is recorded or sent."""

from __future__ import annotations

from .._calling import given, not_callable, not_flag, not_whole, refuse
from .._client import Client
from .._planning import AnyPlan, DatasetPlan
from .._wire import check_body
from ..errors import UsageError

MOST_THREADS = 256


def check_kinds(plan: AnyPlan, client: Client, *, what: str = "preflight") -> None:
    """Check that a plan and a client were given.

    Raises:
        UsageError: says what was given, and how to make what is needed.
    """
    if not isinstance(plan, AnyPlan):
        raise UsageError(f"{what} needs a Plan, got {given(plan)}; make one with plan(frame, to=..., ...)")
    if not isinstance(client, Client):
        from .._sandbox.facade import Sandbox  # aiohttp and more: only to say what is wrong

        of = "its client is box.client()" if isinstance(client, Sandbox) else "Sandbox().client() is one to try"
        raise UsageError(f"client= must be a Client, got {given(client)}; {of}")
    if client.sandbox is not None and client.sandbox._ended:
        raise UsageError("client= speaks to a sandbox that is closed; start another: Sandbox().client()")


def check_switches(isolate_invalid: object, repeat_text: object, progress: object, stop: object) -> None:
    refuse(
        not_flag("isolate_invalid", isolate_invalid),
        not_flag("repeat_text", repeat_text),
        None if isinstance(progress, bool) else not_callable("progress", progress, example="print", none=False),
        None if stop is None or hasattr(stop, "is_set") else f"stop= must be a threading.Event, got {given(stop)}",
        said="nothing was sent: ",
    )


def _kinds(plan: AnyPlan) -> list[int]:
    """Return a body of each kind and signature; of a plan larger than memory all are alike in that."""
    if isinstance(plan, DatasetPlan):
        return [0] * (plan.figures["bodies"] > 0)
    return plan.bodies.drop_duplicates(["kind", "signature"]).index.tolist()


def check(plan: AnyPlan, client: Client, concurrency: int) -> None:
    wrong: list[str] = []
    check_kinds(plan, client, what="send")
    wrong += filter(None, [not_whole("concurrency", concurrency, most=MOST_THREADS)])
    settings = client.settings
    for body in _kinds(plan):
        wrong += check_body(plan.message(int(body)), variant=settings.variant, form=settings.form)
    if wrong:
        unique = tuple(dict.fromkeys(wrong))
        raise UsageError("nothing was sent: " + "; ".join(unique), problems=unique)


def anybody(plan: AnyPlan) -> bool:
    """Return whether a plan has somebody to text."""
    return to_go(plan) > 0


def to_go(plan: AnyPlan) -> int:
    """Return how many recipients a plan texts."""
    if isinstance(plan, DatasetPlan):
        return plan.figures["planned"]
    return int(plan.rows["status"].eq("planned").sum())
