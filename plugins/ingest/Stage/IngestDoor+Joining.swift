import Configuration
import HTTP
import HealthModel
import Synchronization

/// How an app gets its tokens with an invitation's code, renews them and ends them, as the SDK of Open Wearables does.
extension IngestDoor {
    func join(_ request: HTTPRequest, _ route: IngestRoute) throws(IngestProblem) -> HTTPResponse {
        let wish = try Self.joinRequest(request, route)
        if case .redeem = wish {
            // A code can be guessed, unlike a token: whoever has failed often mustn't get in with the right one either.
            let wait = attempts.withLock { $0.wait(request.peer, at: Self.seconds) }
            if let wait { throw .tooMany(wait: wait) }
        }
        guard let answer = joining(wish) else {
            throw .busy("the tokens can't be read or stored", code: "not-kept", seconds: 30)
        }
        switch answer {
        case .joined(let pair, let grant): return Self.response(pair, grant, hasPerson: route == .redeem)
        case .revoked: return HTTPResponse(status: 204)
        case .refused(let reason): throw .unjoined(reason)
        }
    }

    private static func joinRequest(_ request: HTTPRequest, _ route: IngestRoute) throws(IngestProblem) -> JoinRequest {
        let type = request.headers["Content-Type"].map { MediaType($0)?.essence ?? "" } ?? "application/json"
        guard type == "application/json" else { throw .mediaType("application/json") }
        let name = route == .redeem ? "code" : "refresh_token"
        // What isn't JSON has no such member either.
        guard let text = (try? Value(json: request.body))?[name].string else {
            throw .malformed("the body isn't an object with the text '\(name)'")
        }
        return route == .redeem ? .redeem(code: text) : route == .refresh ? .refresh(text) : .revoke(text)
    }

    private static func response(_ pair: TokenPair, _ grant: TokenGrant, hasPerson: Bool) -> HTTPResponse {
        var members: [String: Value] = [
            "access_token": .string(pair.access.text), "refresh_token": .string(pair.refresh.text),
            "token_type": "bearer", "expires_in": .integer(Int64(TokenFamily.accessLife.components.seconds)),
        ]
        if hasPerson { members["user_id"] = .string(Caller.uuid(of: grant.id)) }
        return HTTPResponse(
            status: 200, json: Array(Value.object(members).json().utf8), headers: ["Cache-Control": "no-store"])
    }
}

extension IngestDoor.Caller {
    /// The person's UUID, for apps that know a person by one.
    package var uuid: String { Self.uuid(of: id) }

    /// It follows from the token's id, so it stays when an app renews its tokens, and a phone that is paired again has
    /// another one.
    package static func uuid(of id: String) -> String {
        let digits = "\(SecretDigest(of: "person of \(id)"))"
        let high = UInt64(digits.prefix(16), radix: 16) ?? 0
        let low = UInt64(digits.dropFirst(16).prefix(16), radix: 16) ?? 0
        // Version 8 (RFC 9562): made from a hash.
        let id = SampleID(
            high: high & 0xFFFF_FFFF_FFFF_0FFF | 0x8000, low: low & 0x3FFF_FFFF_FFFF_FFFF | 0x8000_0000_0000_0000)
        return id.description
    }
}
