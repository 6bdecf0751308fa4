import HealthModel

// Where a type's samples in blocks begin and end, in microseconds since 1970.
extension BlockTable {
    /// The earliest start in the given second or later.
    func first(user: Int, type: Int, from second: Int64) throws -> Int64? {
        var best: Int64?
        try forEachPlace(user: user, type: type, seconds: second...Int64.max) { place in
            if let best, place.firstSecond &* Instant.microsecondsPerSecond > best { return false }
            let view = try view(place)
            let block = view.block
            var edge: Int64?
            for row in block.firstRow(from: second)..<block.second.count where view.isHere(row) {
                // The first row within a second may not have the earliest start.
                if let edge, block.second[row] != edge { break }
                edge = block.second[row]
                best = min(best ?? .max, block.start(row))
            }
            return true
        }
        return best
    }

    /// The latest start.
    func last(user: Int, type: Int) throws -> Int64? {
        var best: Int64?
        try forEachPlace(user: user, type: type, seconds: Int64.min...Int64.max, descending: true) { place in
            if let best, (place.firstSecond &+ PendingBlock.span) &* Instant.microsecondsPerSecond < best {
                return false
            }
            let view = try view(place)
            let block = view.block
            var edge: Int64?
            for row in block.second.indices.reversed() where view.isHere(row) {
                if let edge, block.second[row] != edge { break }
                edge = block.second[row]
                best = max(best ?? .min, block.start(row))
            }
            return true
        }
        return best
    }

    /// The latest end among rows that start in the given seconds.
    func lastEnd(user: Int, type: Int, seconds: ClosedRange<Int64>) throws -> Int64? {
        var best: Int64?
        for view in try views(user: user, type: type, seconds: seconds) {
            for row in view.rows(in: seconds) where view.isHere(row) {
                best = max(best ?? .min, view.block.start(row) &+ view.block.duration[row])
            }
        }
        return best
    }
}
