import Changelog
import HealthModel
import Protocol
import StageKit

/// A part of a producer's changelog that is delivered again, row by row; `verify` uses this to request what it found
/// missing.
package struct ReplayedRows: Sendable, Equatable {
    var producer: String
    /// The rows with sequence numbers after `after`, up to and including `until`.
    var after: SequenceNumber
    var until: SequenceNumber

    /// The parts that a request names; nil when it names none.
    static func parts(of request: RepairRequest) -> [ReplayedRows]? {
        guard let rows = request.rows else { return nil }
        return rows.sorted { $0.key < $1.key }.flatMap { producer, windows in
            windows.compactMap { window in
                guard let after = window.first, let until = window.last, after < until else { return nil }
                return ReplayedRows(producer: producer, after: after, until: until)
            }
        }
    }
}

extension DeliveryStage {
    /// Which rows of a part to request, including tombstones; nil when none of them has been delivered yet, since then
    /// they will be anyway.
    func place(of rows: ReplayedRows) -> (query: any Query, place: PullPlace)? {
        guard let upstream = upstreams.first(where: { $0.producer == rows.producer }) else { return nil }
        let until = min(rows.until, upstream.cursor.anchor.maximum)
        guard rows.after < until else { return nil }
        return (upstream.query, upstream.place(after: rows.after, until: until))
    }

    func groups(of rows: ReplayedRows, _ pages: [Value]) throws -> [DeliveryGroup] {
        try split(pages, from: DeliveryReplay.name, isSamples: rows.producer == samples.producer).taken
    }

    /// The rest of a part after a page of it; nil when nothing is left.
    func rest(of rows: ReplayedRows, after page: Value) throws -> ReplayedRows? {
        let through = try page.page(CoveredPage.self, from: rows.producer).through
        guard through > rows.after, through < rows.until else { return nil }
        return ReplayedRows(producer: rows.producer, after: through, until: rows.until)
    }
}

extension Upstream {
    /// A window in that part of the changelog that has been consumed.
    func place(after: SequenceNumber, until: SequenceNumber) -> PullPlace {
        PullPlace(
            store: cursor.store, generation: cursor.generation, after: AnchorVector(base: after),
            until: AnchorVector(base: until))
    }
}
