import HealthModel
import SQLite

/// How far the store's samples have been given the names and ids that follow from what is known about their sources.
package struct NameProgress: Sendable, Equatable {
    /// How many samples an import calls by another name than the store did.
    package struct Renaming: Sendable, Hashable, Codable {
        package var from: String
        package var to: String
        package var samples: Int

        package init(from: String, to: String, samples: Int) {
            (self.from, self.to, self.samples) = (from, to, samples)
        }
    }

    enum Phase: Sendable {
        case new
        case counting(after: SequenceNumber)
        case rewriting(after: SequenceNumber, through: SequenceNumber, names: Set<String>)
        case done
    }

    private(set) package var renamings: [Renaming] = []
    var phase = Phase.new
    /// For each name by which the store calls a source, how many of its samples the file lacks.
    var lacking: [String: Int] = [:]
    /// Likewise, how many it still has under that name.
    var holding: [String: Int] = [:]

    package init() {}

    package var isDone: Bool { if case .done = phase { true } else { false } }

    mutating func found(_ renaming: Renaming) { renamings.append(renaming) }

    package static func == (a: NameProgress, b: NameProgress) -> Bool { a.renamings == b.renamings }
}

// See `SourceNames`.
extension HealthStoreWriter {
    /// Performs one step of settling the names of sources; each step is a transaction of its own. When the file has shown
    /// that a source has another name, its samples get the newer name, and the ids that they would have had if it had
    /// never been renamed. Samples that were stored twice for that reason become one.
    /// - Parameters:
    ///   - session: the file that has been read to its end; nil after something was taken back.
    ///   - limit: how many rows to examine in this step.
    /// - Returns: the types of the samples that have changed.
    package func settleNames(
        of session: ImportSession?, _ progress: inout NameProgress, limit: Int = 50_000
    ) throws -> Set<String> {
        try change(settle: false) { user in
            let links = session.map { NameLinks(writer: self, session: $0, user: user) }
            switch progress.phase {
            case .done: return []
            case .new:
                if let links {
                    try links.confirm()
                    try unsettled.examineOverlaps(user: user)
                    if try !links.session.names.counts.isEmpty || !links.strangers().isEmpty {
                        progress.phase = .counting(after: .beginning)
                        return []
                    }
                }
                progress.phase = try rewriting(user)
                return []
            case .counting(let after):
                guard let links else { return [] }
                let (reached, isWhole) = try links.countLacking(&progress, after: after, limit: limit)
                progress.phase = .counting(after: reached)
                guard isWhole else { return [] }
                try links.link(&progress)
                progress.phase = try rewriting(user)
                return []
            case .rewriting(let after, let through, let work):
                let step = try rewriteNames(session, work, after: after, through: through, limit, user: user)
                progress.phase = .rewriting(after: step.reached, through: through, names: work)
                guard step.isWhole else { return step.types }
                // What a push has added meanwhile waits for the next file.
                try names.endWork(work, user: user)
                try placeWorkouts(user: user)
                try heads.finish(user: user)
                progress.phase = .done
                return step.types
            }
        }
    }

    private func rewriting(_ user: Int) throws -> NameProgress.Phase {
        let work = try names.work(user)
        return work.isEmpty ? .done : .rewriting(after: .beginning, through: sequence, names: work)
    }

    private struct Renamed {
        var row: StoredRow
        var name: String
        var metadata: [UInt8]
        var payload: [UInt8]
        var keepsID: Bool
    }

    private func rewriteNames(
        _ session: ImportSession?, _ work: Set<String>, after: SequenceNumber, through: SequenceNumber, _ limit: Int,
        user: Int
    ) throws -> (reached: SequenceNumber, isWhole: Bool, types: Set<String>) {
        let known = try names.known(of: user)
        let newest = known.newest(try brought.imports(of: user).dates)
        var sightings = try Sightings(brought, user: user)
        var prefixes = KeyPrefixes(user: self.user)
        var found: [Renamed] = []
        var bytes = 0
        let step = try walk(SequenceWindow(after: after, through: through), limit: limit, user: user) { row, texts in
            guard row.state == .alive || row.state == .replaced else { return true }
            let stored = try origins.origin(row.origin).sourceName
            guard work.contains(stored) else { return true }
            let name = try self.name(row, stored, session, known, newest, work, &sightings)
            let keepsID = try prefixes.suit(row, type: { try types.name(row.type) }, key: known.key(name))
            guard name != stored || !keepsID else { return true }
            let entry = Renamed(
                row: row, name: name, metadata: texts.withMetadata { [UInt8]($0) },
                payload: texts.withPayload { [UInt8]($0) }, keepsID: keepsID)
            found.append(entry)
            bytes += entry.metadata.count + entry.payload.count
            return found.count < PendingBlock.rowLimit && bytes < 4 << 20
        }
        // Rows in blocks follow each other, so that they fit into blocks again.
        for entry in found where entry.keepsID && entry.row.isSealed { try rename(entry, user: user) }
        try rows.flush(user: user)
        for entry in found where entry.keepsID && !entry.row.isSealed { try rename(entry, user: user) }
        try identify(found.filter { !$0.keepsID }, &sightings, user: user)
        return (step.reached, step.isWhole, try Set(found.map { try types.name($0.row.type) }))
    }

    /// What the source of a row is called now.
    private func name(
        _ row: StoredRow, _ stored: String, _ session: ImportSession?, _ known: SourceNames.Known,
        _ newest: [String: String], _ work: Set<String>, _ sightings: inout Sightings
    ) throws -> String {
        if let name = newest[known.key(stored)] { return name }
        // After an import was taken back, nothing may be left that calls the source by this name.
        if let latest = sightings.latest(try sightings.imports(of: row.born)), let names = known.mentions[latest],
            !names.contains(stored), names.intersection(work).count == 1, let name = names.intersection(work).first
        {
            return name
        }
        guard let session, let given = session.names.given(row), let bringer = session.bringerNumber
        else { return stored }
        // Each name belongs to several devices, or no export says when it was made: the newest that has the sample counts.
        let others = try sightings.imports(of: row.born).filter { $0 != bringer }
        return sightings.newest(others) <= session.exported?.microseconds ?? .min ? given : stored
    }

    /// Gives a row another name. It stays in a block if it was in one.
    private func rename(_ entry: Renamed, user: Int) throws {
        var row = entry.row
        row.origin = try origins.named(row.origin, entry.name)
        guard row.isSealed, let place = try blocks.next(behind: row.sequence.value - 1) else {
            return try rewrite(&row, was: entry.row, user: user)
        }
        row.sequence = nextSequence()
        try entry.metadata.withUnsafeBytes { metadata in
            try entry.payload.withUnsafeBytes { try rows.add(&row, metadata: metadata, payload: $0, user: user) }
        }
        try blocks.leave(entry.row.sequence.value, of: place)
        try follow(entry.row, to: row, user: user)
    }

    /// Stores rows again under the ids that follow from their sources' names; where such a row exists already, both
    /// become one.
    private func identify(_ entries: [Renamed], _ sightings: inout Sightings, user: Int) throws {
        guard !entries.isEmpty else { return }
        // Known pieces refer to the rows as they were first stored.
        try pieces.forgetAll(user: user)
        let session = ImportSession(source: "")
        session.isRewriting = true
        var batch = RewrittenBatch()
        for entry in entries {
            var origin = try origins.origin(entry.row.origin)
            origin.sourceName = entry.name
            batch.append(
                entry.row, type: try types.name(entry.row.type), unit: try units.name(entry.row.unit), origin: origin,
                metadata: entry.metadata, payload: entry.payload)
            try keepApart(entry.row, in: session, &sightings, user: user)
            try rewrite(entry.row, user: user) {
                ($0.state, $0.uuid, $0.flags) = (.absent, nil, $0.flags | StoredRow.moved)
            }
        }
        let begin = sequence
        try join(session)
        _ = try take(batch.batch, session, { _ in { _, _, _ in nil } }, user: user, isTrial: false)
        var times: [Int: TimeSpans] = [:]
        let workouts = try types.existing(HealthType.workoutIdentifier)
        for (index, entry) in entries.enumerated() {
            let old = entry.row
            guard let row = session.claimedRows[index] else { continue }
            try brought.copy(old.born.value, to: row.born.value)
            if repairing != nil, row.born < begin, !row.isMoved {
                try noteRepaired(old.born, as: Self.merged, user: user)
            } else {
                try brought.forget(old.born.value)
            }
            if old.state == .replaced, row.state == .alive, row.born > begin {
                try rewrite(row, user: user) { $0.state = .replaced }
            }
            sessions.moveClaims(of: old, to: row)
            if old.type == workouts { try inheritSighting(old, to: row, user: user) }
            times[old.type, default: TimeSpans()].add(
                old.second...max(old.second, old.endSecond))
        }
        for (type, times) in times { try unsettled.note(times, type: type, user: user) }
    }

    /// Rows that one import contains beside this one are other samples, even if they are equal.
    private func keepApart(
        _ row: StoredRow, in session: ImportSession, _ sightings: inout Sightings, user: Int
    ) throws {
        let imports = try sightings.imports(of: row.born)
        guard !imports.isEmpty else { return }
        for other in try rows.rows(type: row.type, startingIn: row.second...row.second, user: user)
        where other.sequence != row.sequence && other.end == row.end {
            if try sightings.imports(of: other.born).contains(where: imports.contains) {
                session.claim(other, child: false)
            }
        }
    }

    /// The places of workouts follow the names of their sources.
    private func placeWorkouts(user: Int) throws {
        guard let type = try types.existing(HealthType.workoutIdentifier) else { return }
        for entry in try sightings.all(user: user) {
            guard let row = try rows.row(user: user, type: type, second: entry.second, id: entry.id) else { continue }
            try sightings.move(entry.born, to: place(of: row), user: user)
        }
    }
}

/// Whether rows have the ids that follow from their sources' keys.
struct KeyPrefixes {
    let user: String
    private var known: [Key: SampleKeyPrefix] = [:]

    private struct Key: Hashable {
        var type: Int
        var key: String
    }

    init(user: String) { self.user = user }

    /// More rows than this rarely have the same key; an id beyond it is given again.
    private static let ordinals = 64

    mutating func suit(_ row: StoredRow, type: () throws -> String, key: String) throws -> Bool {
        let place = Key(type: row.type, key: key)
        let prefix = try known[place] ?? SampleKeyPrefix(user: user, type: type(), sourceName: key)
        known[place] = prefix
        let end = row.endSecond
        return (0..<Self.ordinals).contains {
            SampleID(prefix, startSecond: row.second, endSecond: end, ordinal: $0) == row.id
        }
    }
}
