import DashboardStage
import HTTP
import Testing

@Suite struct SiteRuleTests {
    private static let rule = SiteRule(hosts: ["Health.example.org"])

    private func status(_ headers: HTTPHeaders, method: String = "GET", path: String = "/api/days") -> Int? {
        do {
            try Self.rule.check(HTTPRequest(method: method, path: path, headers: headers))
            return nil
        } catch { return error.status }
    }

    @Test(arguments: [
        "127.0.0.1:8789", "localhost", "localhost:1", "[::1]:8789", "health.example.org", "HEALTH.example.org:443",
    ])
    func itsOwnNamesAreAnswered(_ host: String) {
        #expect(status(["Host": host]) == nil)
        #expect(status(["Host": host, "Origin": "https://\(host)", "Sec-Fetch-Site": "same-origin"]) == nil)
    }

    /// DNS rebinding: the request names another host that resolves to this server.
    @Test(arguments: [
        "evil.example", "127.0.0.1.evil.example", "localhost.evil.example:8789", "[::2]:8789", "", "[::1",
    ])
    func otherNamesAreNot(_ host: String) {
        #expect(status(["Host": host]) == 421)
        #expect(status(["Host": host, "Sec-Fetch-Mode": "navigate"], path: "/") == 421)
    }

    @Test func otherSitesAreRefused() {
        let host = "localhost:8789"
        for origin in ["http://evil.example", "null", "http://localhost:1", "file://localhost:8789"] {
            #expect(status(["Host": host, "Origin": origin]) == 403, "\(origin)")
        }
        for site in ["cross-site", "same-site"] {
            #expect(status(["Host": host, "Sec-Fetch-Site": site]) == 403)
            #expect(status(["Host": host, "Sec-Fetch-Site": site], method: "POST", path: "/api/retry") == 403)
        }
        #expect(status(["Host": host, "Sec-Fetch-Site": "none"]) == nil)
    }

    /// A link from another site may lead to the page itself, but to nothing else.
    @Test func aLinkToThePageWorks() {
        let link: HTTPHeaders = ["Host": "localhost", "Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"]
        #expect(status(link, path: "/") == nil)
        #expect(status(link) == 403 && status(link, method: "POST", path: "/") == 403)
    }
}
