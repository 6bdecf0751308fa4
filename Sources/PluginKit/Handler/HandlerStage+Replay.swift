import Changelog
import HealthModel
import SQLite

/// Days that are to be computed once more because a historical sync asks for it.
struct ReplayedDays: Sendable, Equatable {
    var id: String
    /// Days since 1970, both included.
    var days: ClosedRange<Int>
    /// Once none of them is left, they count as done, whatever changes in them later.
    var isDone = false

    init?(_ value: Value) {
        guard let id = value["id"].string, let from = value["from"].string.flatMap({ LocalDay($0) }),
            let through = value["through"].string.flatMap({ LocalDay($0) }), from <= through
        else { return nil }
        self.id = id
        days = from.number...through.number
    }

    var wireValue: Value {
        [
            "id": .string(id), "from": .string(LocalDay(number: days.lowerBound).description),
            "through": .string(LocalDay(number: days.upperBound).description),
        ]
    }
}

extension HandlerStage {
    /// Takes a chunk of a historical sync: its days are marked once, behind whatever is live, and hold no frontier.
    func hear(replay value: Value, _ turn: Turn) throws {
        guard let new = ReplayedDays(value), new.id != replayed?.id else { return }
        for user in timelines.users where !value["users"][user].isNull {
            for day in new.days { try dirty.mark(.init(user: user, day: day), since: DirtyDays.behindEverything, turn) }
        }
        replayed = new
        let write = try turn.write().database.prepare("INSERT OR REPLACE INTO freshness VALUES ('replay', ?)")
        write.bind(1, new.wireValue.json())
        try write.run()
    }

    func openReplay(_ turn: Turn) throws {
        let read = try turn.database.prepare("SELECT value FROM freshness WHERE key = 'replay'")
        guard let text = try read.firstRow({ $0.bytes(0) }) else { return }
        replayed = ReplayedDays(try Value(json: text))
    }

    /// For the heartbeat: the chunk, and how many of its days are left.
    func replayReport() -> Value? {
        guard let chunk = replayed else { return nil }
        let left = chunk.isDone ? 0 : dirty.marks.keys.count { chunk.days.contains($0.day) }
        if left == 0 { replayed?.isDone = true }
        return ["id": .string(chunk.id), "left": .integer(Int64(left))]
    }
}
