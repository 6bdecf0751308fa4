import Clocks
import HTTP
import HealthModel
import Protocol

/// Follows another stack: asks it for its changes, and hands them to the observer over the same line as pushed samples.
///
/// It keeps nothing on disk: the observer stores the follower's position together with the samples. Belongs to one
/// thread, because its requests wait.
package struct Follower {
    /// What an operator may want to know.
    package enum Notice: Sendable, Equatable {
        case taken(samples: Int)
        /// The other stack has a different history.
        case beginsAgain
        case failed(why: String, pause: Duration)
        /// Everything works again, this long after the first failure.
        case recovered(after: Duration)
    }

    /// Sends a request and waits for the answer, at most this long.
    package typealias Ask = (_ request: HTTPRequest, _ timeout: Duration) throws -> HTTPResponse

    /// How long the other stack may wait for something to happen before it answers.
    private static let wait: Int64 = 25
    /// The maximum number of samples in one answer.
    private static let limit = 4000
    private static let shortestPause = Duration.seconds(1)

    private let ask: Ask
    private let token: () throws -> String
    private let line: ObserverLine
    private let clock: () -> Instant
    private let notice: (Notice) -> Void
    /// What the process reports about this follower.
    package private(set) var standing: IngestDetails.Following
    /// The position up to which the observer has everything; nil while it isn't known, empty if the observer has
    /// nothing.
    private var cursor: String?
    /// Whether the observer still lacks the end of the other stack's changes.
    private var isCopying = false
    /// Whether the changes come from the beginning, and the observer doesn't know that yet.
    private var begins = false
    /// Whether the other stack answers, which the observer learns since it raises the alert. nil before the first
    /// answer or failure.
    private var answers: Bool?
    private var backOff = BackOff(Self.shortestPause, upTo: .seconds(60))

    /// - Parameters:
    ///   - address: the other stack's address, as shown to people.
    ///   - token: the other stack's token, read for each request, so that a new token takes effect at once.
    package init(
        address: String, line: ObserverLine, token: @escaping () throws -> String, ask: @escaping Ask,
        clock: @escaping () -> Instant = { WallClock.now }, notice: @escaping (Notice) -> Void
    ) {
        (self.line, self.token, self.ask, self.clock, self.notice) = (line, token, ask, clock, notice)
        standing = IngestDetails.Following(address: address)
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
            try recover()
            // An answer without news usually comes after the wait. If too many requests are already waiting there, the
            // other stack answers at once.
            return moved || MonotonicClock.now - began >= Self.shortestPause ? .seconds(0) : Self.shortestPause
        } catch {
            // The observer may have taken in more than it confirmed, or have restarted, so it is asked.
            cursor = nil
            let pause = backOff.next()
            fail(FollowProblem(error), pause)
            return pause
        }
    }

    private mutating func recover() throws {
        backOff.failures = 0
        if answers != true {
            answers = true
            _ = try report()
        }
        guard let problem = standing.problem else { return }
        standing.problem = nil
        notice(.recovered(after: clock() - problem.since))
    }

    private mutating func fail(_ problem: FollowProblem, _ pause: Duration) {
        // An observer that doesn't answer says nothing about the other stack.
        if !problem.isSilence { answers = false }
        let now = clock()
        standing.problem = IngestDetails.Problem(
            what: problem.what, remedy: problem.remedy, isRefusal: problem.isRefusal,
            since: standing.problem?.since ?? now, nextTry: now + pause)
        notice(.failed(why: problem.description, pause: pause))
    }

    /// Asks the observer for the position it has reached.
    private mutating func learn() throws -> String {
        let receipt = try report()
        begins = false
        note(receipt)
        return receipt?.cursor ?? ""
    }

    private mutating func note(_ receipt: IngestReceipt?) {
        isCopying = receipt?.copying ?? false
        standing.isCopying = isCopying
    }

    /// Says whether the other stack answers, and asks how far the observer has come.
    private func report() throws -> IngestReceipt? {
        var part = IngestPart(id: "", number: 0, user: "", device: "", way: Self.way)
        part.following = IngestPart.Following()
        part.following?.answers = answers
        part.isLast = true
        let receipts = try line.submit { id in
            part.id = id
            return [part]
        }
        return receipts.last
    }

    /// - Returns: whether there were any changes.
    private mutating func follow(from known: String) throws -> Bool {
        let secret = try token()
        // While it isn't known whether the other stack answers, or whether there is more, an answer without news is news.
        let wait = isCopying || answers != true ? 0 : Self.wait
        if known.isEmpty { begins = true }
        var request = HTTPRequest(
            path: Self.way, query: ["limit": "\(Self.limit)", "wait": "\(wait)"],
            headers: ["Accept": ChangesAnswer.contentType, "Authorization": "Bearer \(secret)"])
        if !known.isEmpty { request.query["since"] = known }
        let response = try ask(request, .seconds(Double(Self.wait + 30)))
        switch response.status {
        case 200: break
        case 410 where !known.isEmpty:
            notice(.beginsAgain)
            cursor = ""
            return true
        case 401, 403:
            throw FollowProblem(
                "the other stack answered \(response.status): it refuses the token",
                remedy: "make a token there (healthbus token new --scope read) and write it into the file that "
                    + "'followTokenFile' names", isRefusal: true)
        case 404, 405, 421:
            throw FollowProblem(
                "something answered \(response.status) that isn't the other stack's dashboard under a name that it knows",
                remedy: "'followUrl' must be the other stack's dashboard, under a name that its option 'hosts' has",
                isRefusal: true)
        default: throw FollowProblem("the other stack answered \(response.status)")
        }
        // The other stack had to stop while the request was waiting.
        guard !response.body.isEmpty else { throw FollowProblem("the other stack stopped") }
        let answer = try ChangesAnswer(body: response.body)
        (standing.lastAnswer, standing.hasMore) = (clock(), answer.hasMore)
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
            throw FollowProblem("the observer took the changes but not their end")
        }
        cursor = answer.next
        begins = false
        note(receipts.last)
        guard hasContent else { return false }
        standing.samples += Int64(answer.count)
        notice(.taken(samples: answer.count))
        return true
    }

    /// A part for each page, each as large as it was on the other stack's bus. Only the last part contains the position
    /// that the changes reach.
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
}
