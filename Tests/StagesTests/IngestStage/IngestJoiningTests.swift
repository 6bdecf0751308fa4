import Configuration
import HTTP
import HealthModel
import IngestStage
import Testing

/// The app Open Wearables, from its invitation's code to the store.
struct IngestJoiningTests {
    /// One record; each number is another minute.
    private static func body(_ number: Int) -> String {
        let start = InstantText.iso8601(Instant(seconds: 1_743_000_000 + 60 * Int64(number)))
        return #"{"provider":"apple","data":{"records":[{"id":"\#(IngestRig.uuid(number))","#
            + #""type":"HKQuantityTypeIdentifierOxygenSaturation","startDate":"\#(start)","endDate":"\#(start)","#
            + #""value":97,"unit":"%","source":{"appId":"com.apple.health.3F1C","deviceModel":"Watch6,2"}}]}}"#
    }

    private func post(
        _ rig: IngestRig, _ path: String, _ members: [String: Value], peer: UInt64 = 1
    ) throws -> HTTPResponse {
        try rig.send("POST", "/api/v1/" + path, body: Value.object(members).json(), token: nil, peer: peer)
    }

    private func joined(_ rig: IngestRig) throws -> Value {
        let answer = try post(rig, "invitation-code/redeem", ["code": .string(try rig.invite())])
        try #require(answer.status == 200, "\(answer.text)")
        return try Value(json: answer.body)
    }

    private func sync(_ rig: IngestRig, _ number: Int, user: String?, token: String?) throws -> HTTPResponse {
        try rig.send("POST", "/api/v1/sdk/users/\(user ?? "")/sync", body: Self.body(number), token: token)
    }

    @Test func anAppJoinsSendsRenewsAndLeaves() throws {
        let rig = try IngestRig()
        let first = try joined(rig)
        let user = try #require(first["user_id"].string)
        #expect(first["token_type"] == "bearer" && first["expires_in"] == 3600)
        #expect(SampleID(user)?.description == user)
        #expect(try sync(rig, 1, user: user, token: first["access_token"].string).status == 202)
        #expect(try rig.alive() == 1)
        rig.now = rig.now + .seconds(3600)
        #expect(try sync(rig, 2, user: user, token: first["access_token"].string).status == 401)

        let refresh: [String: Value] = ["refresh_token": first["refresh_token"]]
        let renewed = try post(rig, "token/refresh", refresh)
        #expect(renewed.status == 200 && renewed.headers["Cache-Control"] == "no-store")
        // Its answer was lost.
        #expect(try post(rig, "token/refresh", refresh) == renewed)
        let second = try Value(json: renewed.body)
        #expect(try sync(rig, 2, user: user.uppercased(), token: second["access_token"].string).status == 202)
        #expect(try rig.alive() == 2)

        let last: [String: Value] = ["refresh_token": second["refresh_token"]]
        let revoked = try post(rig, "token/revoke", last)
        #expect(revoked.status == 204 && revoked.body.isEmpty)
        #expect(try sync(rig, 3, user: user, token: second["access_token"].string).status == 401)
        #expect(try post(rig, "token/refresh", last).status == 401)
        #expect(try rig.alive() == 2 && rig.noticed.count == 1)
    }

    /// Another way names the source, has fractions of seconds, and no UUID.
    @Test func aSampleIsTheSameByAnyWay() throws {
        let rig = try IngestRig()
        let path = IngestRig.path("/api/v1/sdk/users/{user}/sync")
        #expect(try rig.send("POST", path, body: Self.body(1)).status == 202)
        _ = try rig.post([
            #"{"type":"HKQuantityTypeIdentifierOxygenSaturation","start":1743000060.4,"value":0.97,"unit":"%","source":"Watch"}"#
        ])
        #expect(try rig.send("POST", path, body: Self.body(1)).status == 202)
        #expect(try rig.alive() == 1)
    }

    /// The SDK sends its token as it got it.
    @Test func theTokenNeedsNoWordBeforeIt() throws {
        let rig = try IngestRig()
        let first = try joined(rig)
        let token = try #require(first["access_token"].string)
        let answer = try rig.send(
            "POST", "/api/v1/sdk/users/\(first["user_id"].string ?? "")/sync", body: Self.body(1), token: nil,
            headers: ["Authorization": token])
        #expect(answer.status == 202)
        #expect(try Value(json: answer.body)["added"] == 1)
    }

    @Test(arguments: ["sync", "logs"]) func thePathIsThatOfTheTokensPerson(_ end: String) throws {
        let rig = try IngestRig()
        let (one, other) = (try joined(rig), try joined(rig))
        for user in [other["user_id"].string, "anna", "{user}"] {
            let answer = try rig.send(
                "POST", "/api/v1/sdk/users/\(user ?? "")/\(end)", body: Self.body(1),
                token: one["access_token"].string)
            #expect(answer.status == 403, "\(answer.text)")
        }
        #expect(try rig.alive() == 0)
    }

    @Test func diagnosticsAreTakenAndDropped() throws {
        let rig = try IngestRig()
        let first = try joined(rig)
        let answer = try rig.send(
            "POST", "/api/v1/sdk/users/\(first["user_id"].string ?? "")/logs", body: #"{"events":[]}"#,
            token: first["access_token"].string)
        #expect(answer.status == 202 && rig.heard.isEmpty)
    }

    /// The reason is in the log; the answer is always the same.
    @Test func whoeverAsksWithTheWrongOneLearnsNothing() throws {
        let rig = try IngestRig()
        let code = try rig.invite()
        _ = try post(rig, "invitation-code/redeem", ["code": .string(code)])
        let answers = [
            try post(rig, "invitation-code/redeem", ["code": .string(code)]),
            try post(rig, "invitation-code/redeem", ["code": "AAAAAAAA"]),
            try post(rig, "token/refresh", ["refresh_token": "rt-1"]),
            try post(rig, "token/revoke", ["refresh_token": ""]),
        ]
        #expect(Set(answers.map(\.text)).count == 1 && answers.allSatisfy { $0.status == 401 })
        #expect(rig.noticed.count == 4)
        #expect(!rig.noticed.contains { $0.contains(code) })
    }

    /// A code could be guessed. After a few wrong ones, the right one doesn't help either.
    @Test func codesCannotBeTriedOut() throws {
        let rig = try IngestRig()
        let code: Value = .string(try rig.invite())
        for _ in 0..<20 {
            #expect(try post(rig, "invitation-code/redeem", ["code": "AAAAAAAA"], peer: 7).status == 401)
        }
        #expect(try post(rig, "invitation-code/redeem", ["code": code], peer: 7).status == 429)
        #expect(try post(rig, "invitation-code/redeem", ["code": code], peer: 8).status == 200)
    }

    @Test func aRequestThatIsNotUnderstoodCostsNoCode() throws {
        let rig = try IngestRig()
        for body in ["", "[]", #"{"code":7}"#, #"{"refresh_token":"x"}"#] {
            #expect(try rig.send("POST", "/api/v1/invitation-code/redeem", body: body, token: nil).status == 422)
        }
        #expect(
            try rig.send("POST", "/api/v1/invitation-code/redeem", body: "{}", token: nil, type: "text/plain").status
                == 415)
        #expect(try rig.send("GET", "/api/v1/token/refresh", token: nil).status == 405)
        let code: Value = .string(try rig.invite())
        rig.canStoreTokens = false
        #expect(try post(rig, "invitation-code/redeem", ["code": code]).status == 503)
        rig.canStoreTokens = true
        #expect(try post(rig, "invitation-code/redeem", ["code": code]).status == 200)
    }
}
