import Changelog
import HealthModel
import SQLite

/// Days that are to be computed once more: a chunk of a historical sync, or what a person asks for.
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
        try mark(new, of: value["users"], turn)
        replayed = new
        let write = try turn.write().database.prepare("INSERT OR REPLACE INTO freshness VALUES ('replay', ?)")
        write.bind(1, new.wireValue.json())
        try write.run()
    }

    private func mark(_ replay: ReplayedDays, of users: Value, _ turn: Turn) throws {
        for user in timelines.users where !users[user].isNull {
            for day in replay.days {
                try dirty.mark(.init(user: user, day: day), since: DirtyDays.behindEverything, turn)
            }
        }
    }

    func openReplay(_ turn: Turn) throws {
        let read = try turn.database.prepare("SELECT value FROM freshness WHERE key = 'replay'")
        guard let text = try read.firstRow({ $0.bytes(0) }) else { return }
        replayed = ReplayedDays(try Value(json: text))
    }

    private func left(of replay: ReplayedDays) -> Int64 {
        Int64(dirty.marks.keys.count { replay.days.contains($0.day) })
    }

    /// For the heartbeat: the chunk, and how many of its days are left.
    func replayReport() -> Value? {
        guard let chunk = replayed else { return nil }
        let left = chunk.isDone ? 0 : left(of: chunk)
        if left == 0 { replayed?.isDone = true }
        return ["id": .string(chunk.id), "left": .integer(left)]
    }
}

extension HandlerStage {
    public func mend(_ request: MendRequest, _ turn: Turn) throws -> Mended {
        switch request.action {
        case "replay":
            revisedByHand = 0
            if let since = request.members["since"].int {
                forgetSlices()
                try upstream.rewind(to: since, turn)
            } else if let days = ReplayedDays(request.members) {
                try mark(days, of: request.members["users"], turn)
            } else {
                return .refused("a replay needs 'from' and 'through', or 'since'")
            }
            return try mended(request, turn)
        case "reset": return try reset(turn)
        case let other: return .refused("a handler has no '\(other)'")
        }
    }

    public func mended(_ request: MendRequest, _ turn: Turn) throws -> Mended {
        let left: Int64
        if let days = ReplayedDays(request.members) {
            left = self.left(of: days)
        } else {
            left = upstream.isLevel ? Int64(dirty.count) : max(1, Int64(dirty.count))
        }
        return left > 0 ? .underWay(left: left) : .done(["revised": .integer(revisedByHand)])
    }

    /// Forgets what it knows of the observer, and computes every day again from what that tells then. Its figures stay until then: days that come to the same
    /// are no news, and what isn't there any more is deleted properly.
    private func reset(_ turn: Turn) throws -> Mended {
        forgetSlices()
        try characteristics.forget(turn)
        try markEverything(turn)
        for key in dirty.failed { try dirty.mark(key, since: 0, turn) }
        try upstream.forget(turn)
        replayed = nil
        try turn.write().database.execute("DELETE FROM freshness WHERE key = 'replay'")
        return .done(["days": .integer(Int64(dirty.count))])
    }
}
