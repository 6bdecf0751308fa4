import DashboardStage
import HTTP
import Testing

/// A refused parameter, and a request without a token: the hint says where to look and what to send.
@Suite struct ParametersTests {
    @Test(arguments: [(DashboardRoute.changes, "docs/sync.md"), (.day, "docs/dashboard.md")])
    func theHintNamesThePageOfThePath(_ route: DashboardRoute, _ page: String) {
        let parameters = Parameters(HTTPRequest(path: "/", query: ["limit": "0"]), page: route.page)
        let problem = #expect(throws: DashboardProblem.self) { try parameters.number("limit", 1...9) }
        #expect(problem?.status == 400 && problem?.hint == "\(page) lists the parameters")
    }

    @Test func aPersonLearnsHowToSignInAndAProgramHowToSendItsToken() {
        let problem = DashboardProblem.unauthorized
        #expect(problem.status == 401 && problem.hint.contains("'healthbus open'"))
        #expect(problem.hint.contains("'Authorization: Bearer TOKEN'"))
    }
}
