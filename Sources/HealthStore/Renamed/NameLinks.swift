import HealthModel
import SQLite

/// Decides which names belong to one source, from what a file or a request shows. See `SourceNames`.
struct NameLinks {
    let writer: HealthStoreWriter
    let session: ImportSession
    let user: Int

    private var names: SourceNames { writer.names }

    /// A request with several samples under another name shows that both names belong to one source, too. The samples get
    /// their ids and names at the end of the next file.
    func linkPushed() throws {
        guard let bringer = session.bringerNumber else { return }
        let known = try names.known(of: user)
        var pairs = Set(session.names.counts.filter { $0.value > 1 && !known.areTwo($0.key.stored, $0.key.given) }.keys)
        let exported = known.mentions.values.reduce(into: Set<String>()) { $0.formUnion($1) }
        let strangers = session.names.seen.subtracting(exported).filter { known.keys[$0] == nil }
        if (1...Self.mostStrangers).contains(strangers.count), !session.times.isEmpty {
            // Samples that were pushed late may have been condensed under the new name since.
            let possible = strangers.flatMap { given in
                exported.filter { known.key($0) == $0 }.map { SessionNames.Pair(stored: $0, given: given) }
            }
            for (type, times) in session.times {
                for stretch in times.stretches(of: type) {
                    pairs.formUnion(try writer.standIns(for: possible, in: stretch, session, user: user).keys)
                }
            }
        }
        for pair in pairs where session.names.linked.insert(pair).inserted {
            try names.add(.init(name: pair.given, other: pair.stored, bringer: bringer), user: user)
        }
    }

    /// Nobody renames more sources than this at once.
    private static let mostStrangers = 16

    /// An import that calls a renamed source by one of its names supports that both are one source.
    func confirm() throws {
        guard let bringer = session.bringerNumber else { return }
        let known = try names.known(of: user)
        for name in session.names.seen.sorted() where known.key(name) != name {
            try names.add(.init(name: name, other: known.key(name), bringer: bringer), user: user)
        }
    }

    /// Counts which samples of the sources in question the file lacks, and which it still has under their stored names.
    func countLacking(
        _ progress: inout NameProgress, after: SequenceNumber, limit: Int
    ) throws -> (SequenceNumber, Bool) {
        let sources = Set(session.names.counts.keys.map(\.stored))
        let exported = session.exported ?? .distantFuture
        var sightings = try Sightings(writer.brought, user: user)
        var prefixes = KeyPrefixes(user: writer.user)
        return try writer.walk(SequenceWindow(after: after, through: writer.sequence), limit: limit, user: user) {
            row, _ in
            guard row.state == .alive, Instant(microseconds: row.end) <= exported else { return true }
            let name = try writer.origins.origin(row.origin).sourceName
            guard sources.contains(name) else { return true }
            if !session.hasClaimed(row) {
                progress.lacking[name, default: 0] += 1
            } else if session.names.given(row) == nil {
                // What only this file has may be another device's, which has taken the name.
                let isOlder = try sightings.bringers(of: row.born).contains { $0 != session.bringerNumber }
                // A row that a request has renamed may have been claimed under the name that it had before.
                let key = try names.known(of: user).key(name)
                if isOlder, try prefixes.suit(row, type: { try writer.types.name(row.type) }, key: key) {
                    progress.holding[name, default: 0] += 1
                }
            }
            return true
        }
    }

    /// Of a source's samples that have disappeared, at least this share must have come back under the other name: an app
    /// may hold a copy of a few of another app's samples.
    private static let leastShare = 10

    func link(_ progress: inout NameProgress) throws {
        guard let bringer = session.bringerNumber else { return }
        let counts = session.names.counts.merging(try condensedPairs(), uniquingKeysWith: +)
        let most = Dictionary(counts.map { ($0.key.stored, $0.value) }, uniquingKeysWith: max)
        for (pair, count) in counts.sorted(by: { ($0.key.stored, $0.key.given) < ($1.key.stored, $1.key.given) }) {
            let known = try names.known(of: user)
            try names.need([pair.stored], user: user)
            let isKnown = known.key(pair.stored) == known.key(pair.given)
            let (lacking, holding) = (progress.lacking[pair.stored] ?? 0, progress.holding[pair.stored] ?? 0)
            let isClear = holding == 0 || count >= RecordClaim.manyRenamed && count * 4 >= holding
            guard isKnown || count == most[pair.stored] && isClear && count * Self.leastShare >= lacking else {
                continue
            }
            try names.add(.init(name: pair.given, other: pair.stored, bringer: bringer), user: user)
            try names.need(names.known(of: user).group(pair.given), user: user)
            progress.found(.init(from: pair.stored, to: pair.given, samples: count))
        }
    }

    /// For each name that no import had before, the names that this one lacks.
    func strangers() throws -> [SessionNames.Pair] {
        guard try !writer.unsettled.next(1, user: user).isEmpty else { return [] }
        let known = try names.known(of: user)
        let before = known.mentions.filter { $0.key != session.bringerNumber }.values.reduce(into: Set()) {
            $0.formUnion($1)
        }
        let gone = Set(known.sightings.keys).subtracting(session.names.seen).filter { known.key($0) == $0 }
        let new = session.names.seen.subtracting(before)
        guard new.count <= Self.mostStrangers else { return [] }
        return new.flatMap { new in gone.map { .init(stored: $0, given: new) } }
    }

    /// The stretches to search for what was renamed and condensed at once.
    private static let compared = 500

    /// Names of sources of which one has only condensed forms of the other's samples.
    private func condensedPairs() throws -> [SessionNames.Pair: Int] {
        let pairs = try strangers()
        guard !pairs.isEmpty else { return [:] }
        var found: [SessionNames.Pair: Int] = [:]
        for stretch in try writer.unsettled.next(Self.compared, user: user) {
            for (pair, count) in try writer.standIns(for: pairs, in: stretch, session, user: user) {
                found[pair, default: 0] += count
            }
        }
        return found
    }
}
