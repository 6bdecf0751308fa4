import DashboardStage
import HealthModel
import Testing

@Suite struct SessionsTests {
    private static let start = MonotonicTime(microseconds: 1_000_000)

    @Test func aSessionStandsForItsTokenUntilItEnds() {
        var sessions = Sessions()
        sessions.begin("a", token: "secret", at: Self.start)
        #expect(sessions.token("a", at: Self.start + .seconds(12 * 3600 - 1)) == "secret")
        #expect(sessions.token("a", at: Self.start + .seconds(12 * 3600)) == nil)
        #expect(sessions.token("b", at: Self.start) == nil)
        sessions.end("a")
        #expect(sessions.token("a", at: Self.start) == nil)
    }

    /// Showing a token again and again doesn't use more and more memory, since the oldest session is dropped.
    @Test func thereAreOnlySoMany() {
        var sessions = Sessions()
        for number in 0..<100 { sessions.begin("\(number)", token: "t", at: Self.start + .seconds(number)) }
        let known = (0..<100).filter { sessions.token("\($0)", at: Self.start + .seconds(100)) != nil }
        #expect(known == Array(36..<100))
    }

    @Test func theCookieIsFoundAmongOthers() {
        #expect(Sessions.id(in: "a=b; healthbus-session=xyz; c=d") == "xyz")
        for header in [nil, "", "healthbus-session", "not-healthbus-session=x", "a=healthbus-session=x"] {
            #expect(Sessions.id(in: header) == nil, "\(header ?? "nil")")
        }
        #expect(Sessions.newID().count == 64 && Sessions.newID() != Sessions.newID())
    }
}
