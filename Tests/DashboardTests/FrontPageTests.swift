import Configuration
import DashboardStage
import Foundation
import HTTP
import HealthModel
import Synchronization
import TestSupport
import Testing

/// What a browser gets at `/`, and how it is signed in.
@Suite struct FrontPageTests {
    private static let host = "127.0.0.1:8789"

    private let folder: TemporaryFolder
    private let files: PageFiles

    init() throws {
        folder = try TemporaryFolder()
        for (name, text) in [("index.html", "the page"), ("signin.html", "run healthbus open")] {
            try text.write(toFile: folder.path + "/" + name, atomically: true, encoding: .utf8)
        }
        files = PageFiles(root: folder.path)
    }

    /// A dashboard's door, at a time that the test sets. The ticket "good" counts once; a token is the name of its
    /// scope.
    private final class Door: Sendable {
        private struct State {
            var now = MonotonicTime(microseconds: 0)
            var tickets: Set<String> = ["good", "other"]
        }
        private let state = Mutex(State())

        func pass(_ duration: Duration) { state.withLock { $0.now = $0.now + duration } }

        func front(isOpen: Bool = false) -> FrontDoor {
            FrontDoor(
                isOpen: isOpen, now: { self.state.withLock(\.now) },
                redeem: { ticket in self.state.withLock { $0.tickets.remove(ticket) != nil } },
                grant: { secret in
                    TokenScope(rawValue: secret).map {
                        TokenGrant(id: "1", user: "anna", device: "", scopes: $0.scopes)
                    }
                })
        }
    }

    private func get(
        _ door: FrontDoor, ticket: String? = nil, cookie: String? = nil, _ headers: HTTPHeaders = [:],
        method: String = "GET"
    ) throws -> HTTPResponse {
        try FrontPage.answer(request(ticket: ticket, cookie: cookie, headers, method: method), door, files)
    }

    private func request(
        ticket: String? = nil, cookie: String? = nil, _ headers: HTTPHeaders = [:], method: String = "GET"
    ) -> HTTPRequest {
        var request = HTTPRequest(method: method, path: "/", headers: headers)
        if let ticket { request.query = ["ticket": ticket] }
        if request.headers["Host"] == nil { request.headers["Host"] = Self.host }
        request.headers["Cookie"] = cookie
        return request
    }

    /// The name and value that a browser sends back.
    private func given(_ answer: HTTPResponse) -> String? {
        answer.headers["Set-Cookie"].flatMap { $0.split(separator: ";").first.map(String.init) }
    }

    @Test func whoIsntSignedInLearnsHow() throws {
        let door = Door().front()
        for ticket in [nil, "", "bad"] {
            let answer = try get(
                door, ticket: ticket, ["If-None-Match": files.answer(request())?.headers["ETag"] ?? ""])
            #expect(answer.status == 401 && answer.text == "run healthbus open")
            #expect(answer.headers["Cache-Control"] == "no-store" && answer.headers["Set-Cookie"] == nil)
            #expect(answer.headers["Content-Type"] == "text/html; charset=utf-8")
        }
        #expect(try !door.visitor(request()).mayRead)
    }

    @Test func aTicketSignsOneBrowserInOnce() throws {
        let door = Door().front()
        let answer = try get(door, ticket: "good")
        #expect(answer.status == 200 && answer.text == "the page")
        let said = try #require(answer.headers["Set-Cookie"])
        for part in ["healthbus-session-8789=", "; HttpOnly", "; SameSite=Strict", "; Path=/", "; Max-Age=43200"] {
            #expect(said.contains(part), "\(said)")
        }
        #expect(!said.contains("; Secure"))
        let cookie = try #require(given(answer))
        let visitor = try door.visitor(request(cookie: cookie))
        #expect(visitor.mayRead && visitor.mayListen && visitor.only == nil && visitor.scopes.isEmpty)
        #expect(try get(door, cookie: cookie).text == "the page")
        // The link is in the browser's history.
        #expect(try get(door, ticket: "good", cookie: cookie).status == 200)
        #expect(try get(door, ticket: "good").status == 401)
    }

    @Test func lookingAtALinkDoesntUseItUp() throws {
        let door = Door().front()
        #expect(try get(door, ticket: "good", method: "HEAD").status == 401)
        #expect(try get(door, ticket: "good").status == 200)
    }

    @Test func theCookieOfAnotherPortOrPersonIsNone() throws {
        let door = Door().front()
        let own = try #require(try given(get(door, ticket: "good")))
        let id = own.split(separator: "=")[1]
        for other in ["healthbus-session-8790=\(id)", "healthbus-session=\(id)", "healthbus-session-8789=x"] {
            #expect(try get(door, cookie: other).status == 401, "\(other)")
            #expect(try !door.visitor(request(cookie: other)).mayRead, "\(other)")
        }
        #expect(try get(door, cookie: own, ["Host": "127.0.0.1:8790"]).status == 401)
    }

    @Test func aSessionEndsAfterTwelveHoursWithTheDashboardOrWhenAskedTo() throws {
        let house = Door()
        let door = house.front()
        let first = try #require(try given(get(door, ticket: "good")))
        #expect(try get(house.front(), cookie: first).status == 401)
        house.pass(.seconds(12 * 3600 - 1))
        #expect(try get(door, cookie: first).status == 200)
        house.pass(.seconds(1))
        #expect(try get(door, cookie: first).status == 401)
        let second = try #require(try given(get(door, ticket: "other", cookie: first)))
        let ended = door.end(request(cookie: second, method: "DELETE"))
        #expect(ended.headers["Set-Cookie"]?.hasPrefix("healthbus-session-8789=; ") == true)
        #expect(try get(door, cookie: second).status == 401)
    }

    /// To import, somebody who is signed in shows a token that can't read.
    @Test func aTokenAddsItsRightsToTheTickets() throws {
        let door = Door().front()
        let before = try #require(try given(get(door, ticket: "good")))
        let shown = try door.begin(request(cookie: before, ["Authorization": "Bearer ingest"], method: "POST"))
        let after = try #require(given(shown))
        let visitor = try door.visitor(request(cookie: after))
        #expect(visitor.mayRead && visitor.scopes == [.ingest] && visitor.token == "ingest")
        #expect(try !door.visitor(request(cookie: before)).mayRead)
        let alone = try #require(
            try given(door.begin(request(["Authorization": "Bearer ingest"], method: "POST"))))
        #expect(try !door.visitor(request(cookie: alone)).mayRead)
        // And in the other order.
        let both = try #require(try given(get(door, ticket: "other", cookie: alone)))
        #expect(try door.visitor(request(cookie: both)).scopes == [.ingest])
    }

    @Test func behindAProxyTheCookieNeedsTLS() throws {
        let proxied: HTTPHeaders = ["Host": "health.example.org", "X-Forwarded-Proto": "https"]
        let said = try get(Door().front(), ticket: "good", proxied).headers["Set-Cookie"]
        #expect(said?.hasPrefix("healthbus-session=") == true && said?.hasSuffix("; Secure") == true)
    }

    /// After a link on another site the browser keeps its cookie back, so only the page can find out.
    @Test func aLinkFromAnotherSiteShowsThePageWithoutData() throws {
        let link: HTTPHeaders = ["Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"]
        let door = Door().front()
        #expect(try get(door, link).text == "the page")
        #expect(try get(door, ticket: "bad", link).status == 401)
        #expect(try get(door, ticket: "good", link).status == 200)
        #expect(try !door.visitor(request(link)).mayRead)
    }

    @Test func whereAnybodyMayReadNobodySignsIn() throws {
        #expect(try get(Door().front(isOpen: true)).text == "the page")
        #expect(!DashboardAddress.isOpen([:]) && !DashboardAddress.isOpen(["open": false]))
        #expect(DashboardAddress.isOpen(["open": true]))
    }
}
