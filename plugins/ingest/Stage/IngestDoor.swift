import Clocks
import Configuration
import HTTP
import HealthModel
import HealthPush
import Protocol
import Synchronization

/// Handles requests: the caller, the data, and the outcome. Effects are passed in from outside.
package final class IngestDoor: Sendable {
    /// Who is asking, according to their token.
    package struct Caller: Sendable, Equatable {
        /// The token's id, which isn't secret.
        package var id: String
        package var user: String
        package var device: String
        /// Whether the token allows sending samples.
        package var mayIngest: Bool
        /// Whether the token allows reading what was entered.
        package var mayRead: Bool

        package init(id: String, user: String, device: String, mayIngest: Bool, mayRead: Bool = false) {
            (self.id, self.user, self.device) = (id, user, device)
            (self.mayIngest, self.mayRead) = (mayIngest, mayRead)
        }
    }

    /// What a request shows to prove who sends it.
    package enum Credential: Sendable {
        /// A token; nil if there is none.
        case token(String?)
        /// The name of a phone that signs its requests. Once the body is there, so is the signature, if it has one.
        case phone(String, signed: (body: [UInt8], signature: BodySignature?)?)
    }

    /// Who is at the door, according to the credential presented.
    package enum Visitor: Sendable {
        case caller(Caller)
        /// The holder of a token that was valid once.
        case ended, revoked
        /// Anybody else.
        case unknown
    }

    /// A request that was let in, with its path's variable component.
    typealias Visit = (route: IngestRoute, id: String?, caller: Caller)

    /// nil if the ingest accepts no files.
    let files: Files?
    private let line: ObserverLine
    let clock: @Sendable () -> Instant
    private let visitor: @Sendable (_ credential: Credential) -> Visitor
    let joining: @Sendable (JoinRequest) -> JoinAnswer?
    private let notice: @Sendable (_ refused: String) -> Void
    private let isObserverThere: @Sendable () -> Bool
    let wakes: WakeLine
    /// By token.
    private let rate: Mutex<RateLimit<String>>
    /// Failed attempts by address, for requests without a valid token.
    let attempts = Mutex(FailedAttempts<UInt64>(allowed: 20, forgivenAfter: 3))
    private let counts = Mutex((taken: Int64(0), refused: Int64(0), last: Instant?.none))

    /// - Parameters:
    ///   - visitor: the owner of a credential, or why that isn't valid.
    ///   - joining: gives an app its tokens, or ends them; nil if they can't be read or stored.
    ///   - notice: called with why a phone's credential was refused, which its answer doesn't say.
    ///   - isObserverThere: whether the observer sent a heartbeat recently.
    ///   - wakes: makes the stack check for new data, as a push does for an app.
    ///   - files: where whole files go; nil if it accepts none.
    ///   - requestsPerMinute: for each token; a minute's worth may arrive at once.
    package init(
        requestsPerMinute: Int, line: ObserverLine, files: Files? = nil, clock: @escaping @Sendable () -> Instant,
        visitor: @escaping @Sendable (_ credential: Credential) -> Visitor,
        joining: @escaping @Sendable (JoinRequest) -> JoinAnswer?,
        notice: @escaping @Sendable (_ refused: String) -> Void, isObserverThere: @escaping @Sendable () -> Bool,
        wakes: WakeLine
    ) {
        rate = Mutex(RateLimit(perSecond: Double(requestsPerMinute) / 60, burst: Double(requestsPerMinute)))
        (self.line, self.files, self.clock, self.visitor) = (line, files, clock, visitor)
        (self.joining, self.notice) = (joining, notice)
        (self.isObserverThere, self.wakes) = (isObserverThere, wakes)
    }

    /// What happens to a request, judged by its head. Call this only once per request, since it counts them.
    package func admission(of request: HTTPRequest) -> HTTPServer.Admission {
        do throws(IngestProblem) {
            let visit = try admit(request)
            // Without a token all callers are the same one: strangers could use up a monitor's requests. Nor may they use
            // up those of a phone whose name they know.
            if visit.route.proof == .bearer { try take(from: visit.caller) }
            if visit.route == .files, let files { return stream(files) }
            return .collect(limit: visit.route.bodyLimit) { [self] in handle($0, visit) }
        } catch { return .refuse(refused(error, request)) }
    }

    private func take(from caller: Caller) throws(IngestProblem) {
        if let wait = rate.withLock({ $0.take(caller.id, at: Self.seconds) }) { throw .tooMany(wait: wait) }
    }

    private func refused(_ problem: IngestProblem, _ request: HTTPRequest) -> HTTPResponse {
        count(problem.status == 401 ? slowed(problem, request.peer) : problem)
    }

    /// What the process reports about itself.
    package func details(port: Int) -> IngestDetails {
        counts.withLock {
            IngestDetails(ingestPort: port, taken: $0.taken, refused: $0.refused, lastTaken: $0.last)
        }
    }

    private func handle(_ request: HTTPRequest, _ visit: Visit) -> HTTPResponse {
        do throws(IngestProblem) {
            if let proof = visit.route.proof, proof != .bearer {
                _ = try caller(of: request, proof, named: visit.id, hasBody: true)
                try take(from: visit.caller)
            }
            switch visit.route {
            case .health: return HTTPResponse(status: 200, json: Array("{\"ok\":true}".utf8))
            case .wake: return try wake(request, visit.caller)
            case .push(let way): return try take(changes(in: request, way), way, visit.caller)
            case .file: return try state(ofFile: visit.id, visit.caller)
            case .ownTypes, .ownType, .events, .event: return try own(request, visit)
            case .redeem, .refresh, .revoke: return try join(request, visit.route)
            case .logs: return HTTPResponse(status: 202, json: Array("{}".utf8))
            // Its body is streamed, and the request is answered at the end.
            case .files: throw .notFound
            }
        } catch { return refused(error, request) }
    }

    func count(_ problem: IngestProblem) -> HTTPResponse {
        noteRefused()
        return problem.answer
    }

    func noteRefused() { counts.withLock { $0.refused += 1 } }

    func noteTaken() {
        counts.withLock {
            $0.taken += 1
            $0.last = clock()
        }
    }

    func requireObserver() throws(IngestProblem) {
        guard isObserverThere() else {
            throw .busy("the observer isn't there, and nothing was accepted", code: "observer-absent", seconds: 5)
        }
    }

    /// Slows down clients without a valid token. Clients with a valid token aren't held up by others behind the same
    /// address: a proxy's address is shared by all its clients, and a token of 256 random bits can't be guessed.
    private func slowed(_ problem: IngestProblem, _ peer: UInt64) -> IngestProblem {
        let slowed = attempts.withLock { attempts -> IngestProblem? in
            if let wait = attempts.wait(peer, at: Self.seconds) { return .tooMany(wait: wait) }
            attempts.failed(peer, at: Self.seconds)
            return nil
        }
        if slowed == nil, let reason = problem.reason { notice(reason) }
        return slowed ?? problem
    }

    /// The time on the monotonic clock.
    static var seconds: Double { Double(MonotonicClock.now.microseconds) / 1e6 }

    func admit(_ request: HTTPRequest) throws(IngestProblem) -> Visit {
        guard let (route, id) = IngestRoute.of(request.path), files != nil || (route != .files && route != .file)
        else { throw .notFound }
        guard let proof = route.proof else {
            guard route.methods.contains(request.method) || route == .health && request.method == "HEAD" else {
                throw .method(route.methods)
            }
            return (route, id, Caller(id: "", user: "", device: "", mayIngest: false))
        }
        // Nobody can sign for a method that isn't there.
        if proof != .bearer, !route.methods.contains(request.method) { throw .method(route.methods) }
        let caller = try caller(of: request, proof, named: id)
        if route.isOwn, request.method == "GET", route.methods.contains("GET") {
            guard caller.mayRead else {
                throw .forbidden(
                    "this token doesn't allow reading", hint: "make one with 'healthbus token new --scope read'")
            }
        } else if !caller.mayIngest {
            throw .forbidden(
                "this token doesn't allow sending samples", hint: "make one with 'healthbus token new --scope ingest'")
        }
        guard route.methods.contains(request.method) else { throw .method(route.methods) }
        guard !route.isPersons || id?.lowercased() == caller.uuid else {
            throw .forbidden(
                "the path names a different user than the token",
                hint: "send it to the path with the user_id that came with the token")
        }
        return (route, id, caller)
    }

    /// - Parameters:
    ///   - id: the path's variable component.
    ///   - hasBody: whether the body is there.
    private func caller(
        of request: HTTPRequest, _ proof: WayIn.Proof, named id: String?, hasBody: Bool = false
    ) throws(IngestProblem) -> Caller {
        switch proof {
        case .bearer:
            // The Open Wearables SDK sends its token without the word Bearer.
            switch visitor(.token(request.bearerToken ?? request.headers["Authorization"])) {
            case .caller(let known): return known
            case .ended: throw .unauthorized("this token has ended")
            case .revoked: throw .unauthorized("this token was revoked")
            case .unknown: throw .unauthorized
            }
        case .signature(let header, let prefix):
            let text = request.headers[header]
            let signature = text.flatMap {
                $0.hasPrefix(prefix) ? BodySignature(hexadecimal: $0.dropFirst(prefix.count)) : nil
            }
            switch visitor(.phone(id ?? "", signed: hasBody ? (request.body, signature) : nil)) {
            case .caller(let known): return known
            case .ended: throw .unsigned("its pairing has ended")
            case .revoked: throw .unsigned("its pairing was revoked")
            case .unknown where !hasBody: throw .unsigned("no phone with that address is paired")
            case .unknown: throw .unsigned(text == nil ? "it isn't signed" : "its signature is wrong")
            }
        }
    }

    private func changes(in request: HTTPRequest, _ way: WayIn) throws(IngestProblem) -> PushedChanges {
        let type = request.headers["Content-Type"].map { MediaType($0)?.essence ?? "" } ?? way.types.first ?? ""
        guard way.types.contains(type) else { throw .mediaType(way.types.joined(separator: " or ")) }
        do throws(PushError) {
            return try way.changes(in: request.body, type: type, now: clock()) { request.headers[$0] }
        } catch {
            throw error.isTooLarge ? .tooLarge(error.description) : .malformed(error.description)
        }
    }

    private func take(
        _ changes: PushedChanges, _ way: WayIn, _ caller: Caller
    ) throws(IngestProblem) -> HTTPResponse {
        if let user = changes.user, user != caller.user {
            throw .forbidden(
                "the body names a different user than the token", hint: "leave 'user' out, or use that user's token")
        }
        let contents = RequestParts(changes)
        let receipts = try submit { contents.messages(id: $0, user: caller.user, device: caller.device, way: way) }
        noteTaken()
        var outcomes = ItemOutcomes(items: changes.items, statistics: changes.taken, reply: way.reply)
        for (content, receipt) in zip(contents.parts, receipts) { outcomes.take(content, receipt) }
        var answer = outcomes.answer
        answer.status = way.status
        return answer
    }

    /// Hands parts over to the observer, and waits for the receipt of each.
    func submit(_ make: (_ id: String) -> [IngestPart]) throws(IngestProblem) -> [IngestReceipt] {
        try requireObserver()
        do throws(ObserverLine.Failure) { return try line.submit(make) } catch {
            switch error {
            case .silent:
                throw .busy(
                    "the observer isn't answering, so nobody knows what it accepted", code: "observer-silent",
                    seconds: 5)
            case .refused(let reason): throw .busy(reason, code: "not-kept", seconds: 30)
            }
        }
    }
}
