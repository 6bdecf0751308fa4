import HealthModel

/// The sessions that are still in use. Their claims are updated whenever any of them changes a row that another has
/// claimed.
struct ImportSessions {
    private struct WeakSession { weak var session: ImportSession? }

    private var entries: [WeakSession] = []

    var isEmpty: Bool { !entries.contains { $0.session != nil } }

    /// - Parameter rollbacks: how many of the database's transactions have been rolled back.
    mutating func join(_ session: ImportSession, rollbacks: Int) throws {
        guard session.rollbackCount ?? rollbacks == rollbacks else {
            throw HealthStoreError.sessionUndone(source: session.source)
        }
        session.rollbackCount = rollbacks
        if !entries.contains(where: { $0.session === session }) {
            entries.removeAll { $0.session == nil }
            entries.append(WeakSession(session: session))
        }
    }

    /// A row has a new sequence.
    func move(_ old: SequenceNumber, to new: SequenceNumber) {
        for entry in entries { entry.session?.move(old, to: new) }
    }

    /// A row took the place of another: the sessions that have claimed the one have claimed the other.
    func moveClaims(of old: StoredRow, to row: StoredRow) {
        for entry in entries where entry.session?.hasClaimed(old) == true { entry.session?.claim(row, child: false) }
    }
}
