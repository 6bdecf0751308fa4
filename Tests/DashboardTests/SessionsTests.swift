import DashboardStage
import HTTP
import HealthModel
import Testing

@Suite struct SessionsTests {
    private static let start = MonotonicTime(microseconds: 1_000_000)

    @Test func aSessionStandsForWhatWasShownUntilItEnds() {
        var sessions = Sessions()
        let shown = Sessions.Session(isOwners: true, token: "secret")
        sessions.begin("a", shown, at: Self.start)
        #expect(sessions.session("a", at: Self.start + .seconds(12 * 3600 - 1)) == shown)
        #expect(sessions.session("a", at: Self.start + .seconds(12 * 3600)) == nil)
        #expect(sessions.session("b", at: Self.start) == nil)
        sessions.end("a")
        #expect(sessions.session("a", at: Self.start) == nil)
    }

    /// Showing a token again and again doesn't use more and more memory, since the oldest session is dropped.
    @Test func thereAreOnlySoMany() {
        var sessions = Sessions()
        for number in 0..<100 { sessions.begin("\(number)", .init(token: "t"), at: Self.start + .seconds(number)) }
        let known = (0..<100).filter { sessions.session("\($0)", at: Self.start + .seconds(100)) != nil }
        #expect(known == Array(36..<100))
    }

    @Test func theCookieIsFoundAmongOthers() {
        #expect(Sessions.id(in: ["Cookie": "a=b; healthbus-session=xyz; c=d"]) == "xyz")
        for header in ["", "healthbus-session", "not-healthbus-session=x", "a=healthbus-session=x"] {
            #expect(Sessions.id(in: ["Cookie": header]) == nil, "\(header)")
        }
        #expect(Sessions.id(in: [:]) == nil)
        #expect(Sessions.newID().count == 64 && Sessions.newID() != Sessions.newID())
    }

    /// Browsers send every cookie to every port of a host, also one that another stack has given.
    @Test func eachPortHasItsOwn() {
        let both = "healthbus-session-8789=a; healthbus-session-8790=b; healthbus-session=c"
        for (host, id) in [
            ("127.0.0.1:8789", "a"), ("localhost:8790", "b"), ("[::1]:8789", "a"), ("health.example.org", "c"),
            ("[::1]", "c"),
        ] {
            #expect(Sessions.id(in: ["Host": host, "Cookie": both]) == id, "\(host)")
        }
        #expect(Sessions.id(in: ["Host": "127.0.0.1:8791", "Cookie": both]) == nil)
    }
}
