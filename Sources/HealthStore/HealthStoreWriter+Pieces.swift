import HealthModel
import SQLite

extension HealthStoreWriter {
    /// Pieces of exports whose records are in the store, with the number of records in each; they needn't be read
    /// again.
    package func knownPieces() throws -> [PieceHash: Int] {
        forgetWhatWasUndone()
        guard let user = try users.existing(self.user) else { return [:] }
        return try pieces.known(user: user)
    }

    /// Claims the rows of the pieces' records, as `ingest` would.
    ///
    /// An earlier record may have claimed one of these rows, taking a piece's sample for the record's own. In that case
    /// the piece is forgotten, and must be read.
    /// - Returns: nil if a piece must be read after all; start over with a new session.
    package func claim(_ hashes: [PieceHash], session: ImportSession) throws -> IngestCounts? {
        try change { user -> IngestCounts? in
            try join(session)
            var counts = IngestCounts()
            for hash in hashes {
                guard let claims = try pieces.claims(of: hash, user: user) else { return nil }
                guard claims.allSatisfy({ $0.rows.allSatisfy { !session.hasClaimedAny(of: $0) } }) else {
                    try pieces.forget(hash, user: user)
                    return nil
                }
                for claim in claims {
                    let name = try types.name(claim.type)
                    session.cover(name, from: claim.firstSecond)
                    for rows in claim.rows { session.claim(rows) }
                    if name == HealthType.workoutIdentifier, let moment = session.moment {
                        for rows in claim.rows { try sightings.see(rows, moment, user: user) }
                    }
                    counts.total.known += claim.records
                    counts.byType[name, default: .init()].known += claim.records
                }
            }
            try noteBrought(by: session, user: user)
            if session.isFile, let bringer = session.bringerNumber, !hashes.isEmpty {
                // What the skipped pieces call their sources is what the newest export before called them.
                try names.inherit(by: bringer, dates: brought.imports(of: user).dates, user: user)
            }
            return counts
        }
    }

    /// Remembers the pieces that end in a batch.
    /// - Parameter types: the batch's types, as numbered in the store.
    func learn(_ batch: RecordBatch, _ session: ImportSession, types: [Int], user: Int) throws {
        var row = 0
        func take(upTo end: Int) {
            while row < min(end, batch.count) {
                session.openPiece.add(
                    session.claimed[row], type: types[Int(batch.type[row])],
                    second: batch.startOf(row).flooredSecond)
                row += 1
            }
        }
        for end in batch.pieceEnds {
            take(upTo: end.rows)
            if let hash = end.hash, let claims = session.openPiece.claims, !claims.isEmpty {
                try pieces.note(hash, claims, records: claims.reduce(0) { $0 + $1.records }, user: user)
            }
            session.openPiece = OpenPiece()
        }
        // The rest belongs to a piece that continues in the next batch.
        take(upTo: batch.count)
    }
}

/// The rows claimed so far by the records of the piece being read.
struct OpenPiece {
    /// Nil once one of the records is refused, deleted or quarantined, so that the piece is read again next time.
    private(set) var claims: [Pieces.Claim]? = []

    mutating func add(_ row: SequenceNumber, type: Int, second: Int64) {
        guard var claims else { return }
        // Only one reference is kept, so that the array can grow in place.
        self.claims = nil
        guard row != .beginning else { return }
        let place: Int
        if claims.last?.type == type {
            place = claims.count - 1
        } else if let known = claims.firstIndex(where: { $0.type == type }) {
            place = known
        } else {
            place = claims.count
            claims.append(Pieces.Claim(type: type))
        }
        claims[place].add(row.value, second: second)
        self.claims = claims
    }
}
