import Client
import Configuration
import Foundation
import HTTP
import HealthModel
import Inspection
import Protocol
import Synchronization

/// `GET /api/v1/changes`: what has changed in a store, for programs and stacks that follow it (docs/sync.md).
///
/// The source of truth is the observer's changelog. A backend couldn't answer this: it has no zones, and knows only the
/// name of a sample's source, so a stack following it would compute different days.
extension Dashboard {
    func changes(_ request: HTTPRequest, _ user: String, _ parameters: Parameters) throws -> HTTPResponse {
        let seconds = try parameters.number("wait", 0...Self.longestWait) ?? 0
        // Two names of one parameter.
        let name = parameters["cursor"] == nil ? "since" : "cursor"
        let question = ChangesQuestion(
            user: user, since: try parameters[name].map { try Self.cursor($0, name) },
            limit: try parameters.number("limit", 1...ChangesAnswer.limit) ?? Self.usualLimit,
            isInColumns: request.headers.all("Accept").contains { $0.contains(ChangesAnswer.contentType) },
            observer: try stack.instance(.observer).name)
        let standing = try ChangesStanding(parts.client, question.observer, since: question.since)
        if let since = question.since, standing.isReset || !since.isKnown(to: standing.head, user: user) {
            throw DashboardProblem(
                410, "'\(name)' is from another history of this store, or another person's",
                hint: "begin again without '\(name)'; ids show what you already have")
        }
        let tag = ChangesTag(standing.head, question.text)
        if tag.isNamed(by: request), seconds == 0 { return tag.marked(HTTPResponse(status: 304)) }
        if let since = question.since, seconds > 0, request.method == "GET", since.sequence == standing.head.sequence,
            let answer = waitingAnswer(to: question, since: since, seconds: seconds)
        {
            return answer
        }
        return tag.marked(
            HTTPResponse(
                status: 200, headers: ["Content-Type": question.contentType], body: try body(question, standing)))
    }

    private static func cursor(_ text: String, _ name: String) throws(DashboardProblem) -> ChangesCursor {
        guard let cursor = ChangesCursor(text) else {
            throw .parameter(name, "isn't from an earlier answer's 'next'", page: DashboardRoute.changes.page)
        }
        return cursor
    }

    private static let usualLimit = 2000
    /// Seconds. Proxies end a request that stays silent for a minute.
    static let longestWait = 30
    /// The maximum number of questions to the observer for one answer. Each question brings a few thousand rows, which
    /// may all belong to another person.
    private static let mostQuestions = 8
    /// The maximum length of an answer that had to wait, in bytes.
    private static let waitingBytes = 64 << 20

    /// An answer that comes as soon as the store moves beyond the cursor, or when the time is up; nil if too many are
    /// waiting.
    private func waitingAnswer(to question: ChangesQuestion, since: ChangesCursor, seconds: Int) -> HTTPResponse? {
        let stream = EventStream(capacity: Self.waitingBytes)
        let isAdmitted = parts.waiting.admit(
            .init(
                stream: stream, since: since, deadline: Date(timeIntervalSinceNow: Double(seconds)),
                answer: { [self] in lateBody(question, since, $0) }))
        guard isAdmitted else { return nil }
        var answer = HTTPResponse(
            status: 200, headers: ["Content-Type": question.contentType, "Cache-Control": "no-store"])
        answer.events = stream
        return answer
    }

    /// The body after the wait. Its status has already been sent, so anything that goes wrong now is reported in the
    /// next answer.
    private func lateBody(
        _ question: ChangesQuestion, _ since: ChangesCursor, _ standing: Result<ChangesStanding, any Error>
    ) -> ChangesWaiting.Answer {
        var nothing = ChangesAnswer(user: question.user)
        nothing.next = since.text
        do {
            let standing = try standing.get()
            if !standing.isReset, since.isKnown(to: standing.head, user: question.user) {
                return .init(body: try body(question, standing))
            }
            return .init(body: encoded(nothing, question))
        } catch {
            parts.failed("changes", error)
            return .init(body: encoded(nothing, question), failure: error)
        }
    }

    private func body(_ question: ChangesQuestion, _ standing: ChangesStanding) throws -> [UInt8] {
        try heavy.withLock { _ in try whole(question, standing) }
    }

    private func whole(_ question: ChangesQuestion, _ standing: ChangesStanding) throws -> [UInt8] {
        var answer = ChangesAnswer(user: question.user)
        let reached = try collect(&answer, question, standing.head)
        answer.next = ChangesCursor(standing.head, at: reached, user: question.user).text
        answer.hasMore = reached < standing.head.sequence
        answer.zones = standing.beside.zones?[question.user] ?? .null
        answer.characteristics = standing.beside.characteristics?[question.user] ?? .null
        return encoded(answer, question)
    }

    private func encoded(_ answer: ChangesAnswer, _ question: ChangesQuestion) -> [UInt8] {
        question.isInColumns ? answer.encoded() : ChangesDocument.json(answer, at: parts.clock())
    }

    /// Reads changes up to the reported head, so that an answer reflects one state.
    /// - Returns: the position up to which the answer has everything.
    private func collect(
        _ answer: inout ChangesAnswer, _ question: ChangesQuestion, _ head: StoreHead
    ) throws -> SequenceNumber {
        var (reached, left, questions) = (question.from, question.limit, 0)
        while reached < head.sequence, left > 0, questions < Self.mostQuestions {
            questions += 1
            // A store continues from a position only if it knows that the position is its own.
            let place = PullPlace(of: head, after: reached, until: head.sequence)
            let answered: [Page<SamplesPage>]? = try parts.client.ask(
                question.observer, .samples(.allExcept([])), place, within: 20)
            guard let pages = answered, !pages.isEmpty else { throw ChangesStanding.silent }
            for page in pages where left > 0 {
                guard page.head?.generation == head.generation, page.content.isOwned,
                    let through = page.content.through
                else { throw ChangesStanding.silent }
                let samples = page.content.samples
                let (users, user) = (page.content.users, page.content.user)
                var rows = samples.ids.indices.filter { users[Int(user[$0])] == question.user }
                if rows.count > left {
                    rows = Array(rows.prefix(left))
                    reached = SequenceNumber(samples.sequence[rows[left - 1]])
                } else {
                    reached = max(reached, min(through, head.sequence))
                }
                left -= rows.count
                answer.add(rows, of: samples)
            }
        }
        return reached
    }
}

/// What a follower wants.
struct ChangesQuestion: Sendable {
    var user: String
    /// nil: everything.
    var since: ChangesCursor?
    var limit: Int
    /// Whether the answer is to be in columns, as a stack wants it, rather than in JSON.
    var isInColumns: Bool
    var observer: String

    var from: SequenceNumber { since?.sequence ?? .beginning }
    var contentType: String { isInColumns ? ChangesAnswer.contentType : "application/json" }
    /// Everything that the answer depends on.
    var text: String { "\(user)\n\(since?.text ?? "")\n\(limit)\n\(isInColumns)" }
}

/// Identifies one answer: it depends only on the store's state and the question.
private struct ChangesTag {
    private let text: String

    init(_ head: StoreHead, _ question: String) {
        let number = String(ContentNumber.text(question), radix: 36)
        text = "\"1-\(head.generation)-\(head.sequence)-\(number)\""
    }

    func isNamed(by request: HTTPRequest) -> Bool {
        request.headers.all("If-None-Match").contains { field in
            // The tags contain no commas or spaces.
            field.split { ", \t".contains($0) }.contains { $0 == "*" || $0 == text || $0 == "W/" + text }
        }
    }

    func marked(_ answer: HTTPResponse) -> HTTPResponse {
        var answer = answer
        answer.headers["ETag"] = text
        answer.headers["Cache-Control"] = "private, no-cache"
        answer.headers["Vary"] = "Accept, Authorization, Cookie"
        return answer
    }
}
