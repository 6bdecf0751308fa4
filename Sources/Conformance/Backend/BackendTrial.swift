import Clocks
import DeliveryKit
import Foundation
import HTTP
import HealthModel
import UploaderReading

/// Tests case by case whether a backend honors the contract in docs/backend.md, judging its answers as the uploader
/// does.
///
/// It writes under a user of its own, and deletes everything afterwards. It never sends `Healthbus-Seen`, which could
/// make a backend begin a new generation.
package final class BackendTrial {
    let url: String
    /// nil for a server that asks for none.
    let token: String?
    let connection: BackendConnection
    var data: BackendTestData
    /// The elements that were written and must be deleted.
    private var written: [Written: Set<String>] = [:]
    /// Whether anything was accepted.
    private var hasWritten = false
    /// What the backend has revealed in its answers so far.
    var shows = Shows()
    /// The first sample that was accepted, and the answer to it.
    var first: (id: SampleID, version: Int64, reply: BackendReply)?

    struct Shows {
        var counts = false
        var versions = false
        var anything: Bool { counts || versions }
    }

    private struct Written: Hashable {
        var user: String
        var list: BackendList
    }

    /// How many times a request is sent if it is answered with "later".
    private static let attempts = 4
    /// The longest wait, in seconds, that a backend may ask for here.
    private static let longestWait = 3.0

    /// - Parameters:
    ///   - token: nil for a server that asks for none.
    ///   - user: the user under which it writes; used by nobody else.
    /// - Throws: `HTTPError` for a URL that can't be used.
    package init(url: String, token: String?, user: String, now: Instant) throws {
        (self.url, self.token) = (url, token)
        connection = try BackendConnection(url, token: token)
        data = BackendTestData(user: user, now: now)
    }

    /// - Parameters:
    ///   - only: the one case to report; nil for all.
    ///   - answers: called once, after the first case that wasn't skipped.
    ///   - say: called with each result as it arrives.
    /// - Throws: `HTTPError` when nothing answers at all.
    package func run(
        only: BackendCase? = nil, answers: () -> Void = {}, say: (BackendResult) -> Void = { _ in }
    ) throws -> BackendReport {
        var isAnswered = false
        var results: [BackendResult] = []
        for asked in BackendCase.allCases where only.map({ [$0, .sample, .shows].contains(asked) }) ?? true {
            let result = BackendResult(asked, try outcome(of: asked, after: results))
            results.append(result)
            if !isAnswered, result.isTried {
                isAnswered = true
                answers()
            }
            if only ?? asked == asked { say(result) }
        }
        return BackendReport(
            url: url, user: data.user, results: results.filter { only ?? $0.asked == $0.asked },
            left: clear(), hasWritten: hasWritten)
    }

    private func outcome(of asked: BackendCase, after results: [BackendResult]) throws -> BackendResult.Outcome {
        func failed(_ other: BackendCase) -> Bool { results.contains { $0.asked == other && $0.hasFailed } }
        if token == nil, asked == .noToken || asked == .wrongToken {
            return .skipped("the server is said to ask for no token")
        }
        if failed(.sample), asked != .noToken, asked != .wrongToken { return .skipped("'sample' failed") }
        if failed(.shows), asked.looksInside { return .skipped("'shows' failed, so this can't be known") }
        do {
            try perform(asked)
            return .passed
        } catch let fault as BackendFault {
            return .failed(fault)
        } catch let error as HTTPError {
            // When nothing answers at all, no case has failed.
            guard results.contains(where: \.isTried) || error.kind == .timedOut || error.kind == .connection else {
                throw error
            }
            return .failed(
                BackendFault(
                    asked: asked.about, expected: "an answer", seen: error.detail,
                    advice: "answer every request, whatever its content; without an answer it is sent again"))
        }
    }

    // MARK: Requests

    /// Sends elements, up to four times while the answer is 408, 409, 425, 429 or 5xx, and remembers what may have been
    /// written.
    func send(
        _ list: BackendList, _ lists: [String: [[String: Value]]], user: String? = nil,
        adding more: [String: Value] = [:]
    ) throws(HTTPError) -> BackendReply {
        let body = data.body(lists, user: user, adding: more)
        let sent = lists.values.reduce(0) { $0 + $1.count }
        var reply = try connection.post(list.metric, body, sent: sent)
        for _ in 1..<Self.attempts where [408, 409, 425, 429].contains(reply.status) || reply.status >= 500 {
            let asked = reply.response.headers["Retry-After"].flatMap {
                RetryAfter.wait($0)?.seconds(from: WallClock.now)
            }
            Thread.sleep(forTimeInterval: min(asked ?? 0.2, Self.longestWait))
            reply = try connection.post(list.metric, body, sent: sent)
        }
        if reply.isAccepted { hasWritten = true }
        if !Self.keepsNothing.contains(reply.status) {
            for (name, elements) in lists where !name.hasPrefix("deleted") { note(elements, list, user) }
        }
        return reply
    }

    /// Statuses after which there is nothing to delete.
    private static let keepsNothing: Set<Int> = [301, 302, 303, 307, 308, 401, 403, 404, 405, 413, 415]

    func note(_ elements: [[String: Value]], _ list: BackendList, _ user: String? = nil) {
        let ids = elements.compactMap { $0[list.key]?.string }
        written[Written(user: user ?? data.user, list: list), default: []].formUnion(ids)
    }

    /// What the backend stores for an element, if it reveals that; the inner nil means that nothing is stored for it.
    func kept(_ id: String, _ list: BackendList, user: String? = nil) throws(HTTPError) -> BackendVersions.Row?? {
        guard shows.versions else { return nil }
        guard let rows = try versions(list, user: user) else { return nil }
        return .some(rows.rows.first { $0.id == id.lowercased() })
    }

    /// nil if the backend doesn't reveal the versions.
    func versions(_ list: BackendList, user: String? = nil) throws(HTTPError) -> BackendVersions? {
        var all = BackendVersions()
        repeat {
            var query = ["user": user ?? data.user, "list": list.rawValue]
            query["cursor"] = all.next
            let answer = try connection.get("versions", query)
            guard answer.status == 200, all.take(answer.body) else { return nil }
        } while all.next != nil
        return all
    }

    // MARK: After it

    /// Deletes what was written.
    /// - Returns: how many elements are still there, judging by the answers.
    private func clear() -> Int {
        var left = 0
        for (place, ids) in written {
            var rest = Array(ids)
            while !rest.isEmpty {
                let some = rest.suffix(Self.leastBatch)
                rest.removeLast(some.count)
                let version = data.nextVersion()
                let deletions = some.map { BackendTestData.deletion($0, version) }
                let body = data.body([place.list.deleted: deletions], user: place.user)
                do {
                    let reply = try connection.post(place.list.metric, body, sent: some.count)
                    if !reply.isAccepted || !reply.answer.refused.isEmpty { left += some.count }
                } catch { left += some.count }
            }
        }
        return left
    }
}

/// The lists of elements, each with its path and members.
enum BackendList: String {
    case samples, workouts, nights, days

    var metric: String {
        switch self {
        case .samples: "steps"
        case .workouts: "workouts"
        case .nights: "sleep"
        case .days: "daily"
        }
    }

    var deleted: String { self == .nights ? "deletedNights" : "deleted" }
    /// The member that is an element's key.
    var key: String { self == .days ? "date" : "id" }
}

/// The answer to `GET /api/v1/versions`.
struct BackendVersions {
    struct Row: Equatable {
        var id: String
        var version: Int64
        var isDeleted: Bool
    }

    private(set) var rows: [Row] = []
    private(set) var next: String?
    private(set) var isInOrder = true

    /// Reads a page; returns false when it isn't one.
    mutating func take(_ body: [UInt8]) -> Bool {
        guard let page = Value(strictJSON: body), let ids = page["ids"].array, let versions = page["versions"].array,
            let deleted = page["deleted"].array, ids.count == versions.count, ids.count == deleted.count
        else { return false }
        for ((id, version), deleted) in zip(zip(ids, versions), deleted) {
            guard let id = id.string, let version = version.int, let deleted = deleted.int else { return false }
            if let last = rows.last?.id, last.utf8.lexicographicallyPrecedes(id.utf8) == false { isInOrder = false }
            rows.append(Row(id: id, version: version, isDeleted: deleted != 0))
        }
        let cursor = page["nextCursor"].string
        // A cursor that doesn't move would be followed forever.
        guard cursor == nil || cursor != next else { return false }
        next = cursor
        return true
    }
}
