import Clocks
import HTTP
import HealthModel
import Protocol

/// Follows another stack: asks it for its changes, and hands them to the observer over the same line as pushed samples.
///
/// It keeps nothing on disk: the observer stores how far it has come, together with the samples. Belongs to one thread,
/// because its requests wait.
package struct Follower {
    /// What an operator may want to know.
    package enum Notice: Sendable, Equatable {
        case taken(samples: Int)
        /// The other stack has a different history.
        case beginsAnew
        case failed(why: String, pause: Duration)
    }

    /// Sends a request and waits for the answer, at most this long.
    package typealias Ask = (_ request: HTTPRequest, _ timeout: Duration) throws -> HTTPResponse

    /// How long the other stack may wait for something to happen before it answers.
    private static let wait: Int64 = 25
    /// Samples in one answer.
    private static let limit = 4000
    private static let shortestPause = Duration.seconds(1)
    private static let longestPause = Duration.seconds(60)

    private let ask: Ask
    private let token: () throws -> String
    private let line: ObserverLine
    private let notice: (Notice) -> Void
    /// The position up to which the observer has everything; nil while that isn't known, empty if it has nothing.
    private var cursor: String?
    /// Whether the observer still lacks the end of the other stack's changes.
    private var isCopying = false
    /// Whether the changes come from the beginning, and the observer doesn't know that yet.
    private var begins = false
    private var failures = 0

    /// - Parameters:
    ///   - token: the other stack's, read for each request, so that a new one takes effect at once.
    package init(
        line: ObserverLine, token: @escaping () throws -> String, ask: @escaping Ask,
        notice: @escaping (Notice) -> Void
    ) {
        (self.line, self.token, self.ask, self.notice) = (line, token, ask, notice)
    }

    /// Asks once, and takes in the answer.
    /// - Returns: how long to pause before the next step.
    package mutating func step() -> Duration {
        do {
            let began = MonotonicClock.now
            let known: String
            if let cursor { known = cursor } else { known = try learn() }
            cursor = known
            let moved = try follow(from: known)
            failures = 0
            // An answer without news usually comes after the wait. If the other stack has too many waiting already, it
            // answers at once.
            return moved || MonotonicClock.now - began >= Self.shortestPause ? .seconds(0) : Self.shortestPause
        } catch {
            // The observer may have taken in more than it confirmed, or have restarted, so it is asked.
            cursor = nil
            let pause = min(Self.longestPause, .seconds(Double(1 << min(failures, 6))))
            failures += 1
            notice(.failed(why: Self.reason(error), pause: pause))
            return pause
        }
    }

    /// Asks the observer how far it has come.
    private mutating func learn() throws -> String {
        var part = IngestPart(id: "", number: 0, user: "", device: "", way: Self.way)
        part.following = IngestPart.Following()
        part.isLast = true
        let receipts = try line.submit { id in
            part.id = id
            return [part]
        }
        begins = false
        isCopying = receipts.last?.copying ?? false
        return receipts.last?.cursor ?? ""
    }

    /// - Returns: whether there was anything.
    private mutating func follow(from known: String) throws -> Bool {
        let secret = try token()
        // While there is something to finish, an answer without news is news.
        let wait = isCopying ? 0 : Self.wait
        if known.isEmpty { begins = true }
        var request = HTTPRequest(
            path: Self.way, query: ["limit": "\(Self.limit)", "wait": "\(wait)"],
            headers: ["Accept": ChangesAnswer.contentType, "Authorization": "Bearer \(secret)"])
        if !known.isEmpty { request.query["since"] = known }
        let response = try ask(request, .seconds(Double(Self.wait + 30)))
        switch response.status {
        case 200: break
        case 410 where !known.isEmpty:
            notice(.beginsAnew)
            cursor = ""
            return true
        case 401, 403:
            throw FollowProblem(
                why: "the other stack answered \(response.status): it refuses the token; make one there with "
                    + "'healthbus token new --scope read'")
        case 404, 405, 421:
            throw FollowProblem(
                why: "something answered \(response.status): 'followUrl' must be the other stack's dashboard, under a "
                    + "name that its option 'hosts' has")
        default: throw FollowProblem(why: "the other stack answered \(response.status); it is asked again")
        }
        // The other stack had to stop while the request was waiting.
        guard !response.body.isEmpty else { throw FollowProblem(why: "the other stack stopped; it is asked again") }
        let answer = try ChangesAnswer(body: response.body)
        let closes = isCopying && !answer.hasMore
        guard answer.next != known || closes else { return false }
        // Other people's changes move the position too. Nothing is stored for that: an earlier position leads to the
        // same changes.
        let hasContent = answer.count > 0 || !answer.zones.isNull || !answer.characteristics.isNull
        guard hasContent || closes else {
            cursor = answer.next
            return answer.hasMore
        }
        let receipts = try line.submit { Self.parts(of: answer, begins: begins, id: $0) }
        guard receipts.last?.cursor == answer.next else {
            throw FollowProblem(why: "the observer took the changes but not their end; it is asked again")
        }
        cursor = answer.next
        begins = false
        isCopying = receipts.last?.copying ?? false
        guard hasContent else { return false }
        notice(.taken(samples: answer.count))
        return true
    }

    /// A part for each page, each as large as it was on the other stack's bus. Only the last part says how far the
    /// changes reach.
    static func parts(of answer: ChangesAnswer, begins: Bool, id: String) -> [IngestPart] {
        let pages = answer.pages.isEmpty ? [SamplePage()] : answer.pages
        return pages.enumerated().map { number, page in
            var part = IngestPart(id: id, number: Int64(number), user: answer.user, device: "", way: way)
            part.isLast = number == pages.count - 1
            part.followed = page
            var following = IngestPart.Following(cursor: part.isLast ? answer.next : "")
            if number == 0 {
                (following.zones, following.characteristics) = (answer.zones, answer.characteristics)
                following.begins = begins
            }
            following.isEnd = part.isLast && !answer.hasMore
            part.following = following
            return part
        }
    }

    /// The quarantine also uses it to say where something came from.
    static let way = "/api/v1/changes"

    private static func reason(_ error: any Error) -> String {
        switch error {
        case ObserverLine.Failure.silent: "the observer doesn't answer; it is asked again"
        case ObserverLine.Failure.refused(let reason): reason
        default: "\(error)"
        }
    }
}

/// Why another stack can't be followed at the moment, and what to do.
struct FollowProblem: Error, CustomStringConvertible {
    let why: String

    var description: String { why }
}
