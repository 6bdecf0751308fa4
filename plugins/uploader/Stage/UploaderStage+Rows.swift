import Changelog
import HealthModel
import Protocol
import StageKit
import UploaderReading

/// A part of a producer's changelog that is delivered once more, row by row as it stands there: `verify` names what it found missing so.
struct ReplayedRows: Sendable, Equatable {
    var producer: String
    /// Sequences above `after`, up to and with `until`.
    var after: Int64
    var until: Int64

    /// The members `{"rows": {"observer": [[17, 18], …]}}` of a replay; nil when they name none.
    static func parts(of request: Value) -> [ReplayedRows]? {
        guard let rows = request["rows"].object else { return nil }
        return Value.inOrder(rows).flatMap { producer, windows in
            (windows.array ?? []).compactMap { window in
                guard let after = window.array?.first?.int, let until = window.array?.last?.int, after < until else {
                    return nil
                }
                return ReplayedRows(producer: producer, after: after, until: until)
            }
        }
    }
}

extension UploaderStage {
    /// Asks for a part's rows, tombstones too; nil when none of them has been delivered yet: then they come by themselves.
    func query(of rows: ReplayedRows) -> [String: Value]? {
        guard let upstream = upstreams.first(where: { $0.producer == rows.producer }) else { return nil }
        let until = min(rows.until, upstream.cursor.anchor.maximum)
        guard rows.after < until else { return nil }
        var query = upstream.query
        query["store"] = Value(upstream.cursor.store)
        query["generation"] = Value(upstream.cursor.generation)
        query["after"] = .integer(rows.after)
        query["until"] = .integer(until)
        return query
    }

    func groups(of rows: ReplayedRows, _ pages: [Value]) throws -> [DeliveryGroup] {
        try DeliveryGroup.groups(
            pages, from: UploadReplay.name, isSamples: rows.producer == samples.producer, family: family)
    }

    /// What is left of a part after a page of it; nil when nothing is.
    func rest(of rows: ReplayedRows, after page: Value) throws -> ReplayedRows? {
        guard let through = page["through"].int else { throw StageError.unreadablePage(producer: rows.producer) }
        guard through > rows.after, through < rows.until else { return nil }
        return ReplayedRows(producer: rows.producer, after: through, until: rows.until)
    }
}
