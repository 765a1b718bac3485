"""Maximum flow (Dinic), stopped once enough is sent: for the cuts the checker makes itself."""

from __future__ import annotations

from lowtide.checker.refusal import Deadline

_TURNS_BETWEEN_CHECKS = 4096


class FlowNetwork:
    """Nodes by index; arcs in pairs, arc k ^ 1 being the residual of arc k; integer amounts."""

    def __init__(self, node_count: int) -> None:
        self._arcs_at: list[list[int]] = [[] for _ in range(node_count)]
        self._head: list[int] = []
        self._room: list[int] = []

    def add_node(self) -> int:
        """One more node."""
        self._arcs_at.append([])
        return len(self._arcs_at) - 1

    def add_arc(self, tail: int, head: int, capacity: int) -> None:
        """One more arc."""
        self._arcs_at[tail].append(len(self._head))
        self._head.append(head)
        self._room.append(capacity)
        self._arcs_at[head].append(len(self._head))
        self._head.append(tail)
        self._room.append(0)

    def send(self, source: int, sink: int, wanted: int, deadline: Deadline) -> int:
        """Sends up to `wanted` (at least 0) from source to sink; returns how much went through."""
        sent = 0
        while sent < wanted:
            deadline.check()
            level = self._levels(source, sink)
            if level[sink] < 0:
                break
            sent += self._blocking_flow(source, sink, wanted - sent, level, deadline)
        return sent

    def _levels(self, source: int, sink: int) -> list[int]:
        level = [-1] * len(self._arcs_at)
        level[source] = 0
        layer = [source]
        depth = 0
        while layer and level[sink] < 0:
            depth += 1
            next_layer = []
            for node in layer:
                for arc in self._arcs_at[node]:
                    head = self._head[arc]
                    if level[head] < 0 and self._room[arc]:
                        level[head] = depth
                        next_layer.append(head)
            layer = next_layer
        return level

    def _blocking_flow(
        self, source: int, sink: int, wanted: int, level: list[int], deadline: Deadline
    ) -> int:
        head, room, arcs_at = self._head, self._room, self._arcs_at
        next_arc = [0] * len(arcs_at)
        path: list[int] = []
        node, sent, turns = source, 0, 0
        while sent < wanted:
            turns += 1
            if turns % _TURNS_BETWEEN_CHECKS == 0:
                deadline.check()
            if node == sink:
                amount = min(wanted - sent, min(room[arc] for arc in path))
                sent += amount
                for arc in path:
                    room[arc] -= amount
                    room[arc ^ 1] += amount
                # Back to where the path is saturated first.
                keep = next((i for i, arc in enumerate(path) if not room[arc]), len(path))
                node = head[path[keep] ^ 1] if keep < len(path) else node
                del path[keep:]
                continue
            arcs = arcs_at[node]
            place = next_arc[node]
            while place < len(arcs):
                arc = arcs[place]
                if room[arc] and level[head[arc]] == level[node] + 1:
                    break
                place += 1
            next_arc[node] = place
            if place < len(arcs):
                path.append(arcs[place])
                node = head[arcs[place]]
            elif path:
                level[node] = -1
                node = head[path.pop() ^ 1]
            else:
                break
        return sent

    def side_of_sink(self, sink: int) -> list[bool]:
        """Per node, whether something could still be sent from it to the sink."""
        reaches = [False] * len(self._arcs_at)
        reaches[sink] = True
        waiting = [sink]
        while waiting:
            for arc in self._arcs_at[waiting.pop()]:
                tail = self._head[arc]
                if not reaches[tail] and self._room[arc ^ 1]:
                    reaches[tail] = True
                    waiting.append(tail)
        return reaches
