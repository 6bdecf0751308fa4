import Configuration
import DashboardStage
import HTTP
import HealthModel
import Testing

@Suite struct VisitorTests {
    private func visitor(_ scope: TokenScope?, isOpen: Bool = false) throws -> Visitor {
        let door = FrontDoor(isOpen: isOpen, now: { MonotonicTime(microseconds: 0) }, redeem: { _ in false }) {
            secret in
            TokenScope(rawValue: secret).map { TokenGrant(id: "1", user: "anna", device: "", scopes: $0.scopes) }
        }
        var request = HTTPRequest(path: "/api/days")
        if let scope { request.headers["Authorization"] = "Bearer \(scope.rawValue)" }
        return try door.visitor(request)
    }

    @Test(arguments: [TokenScope.read, .ingest], [false, true])
    func aTokenStandsForOnePerson(_ scope: TokenScope, isOpen: Bool) throws {
        let visitor = try visitor(scope, isOpen: isOpen)
        #expect(visitor.only == "anna" && visitor.mayListen == isOpen)
        #expect(try visitor.person(nil) == "anna" && visitor.person("anna") == "anna")
        let problem = #expect(throws: DashboardProblem.self) { try visitor.person("bob") }
        #expect(problem?.status == 403)
    }

    @Test func theOperatorReadsEverybodysData() throws {
        let visitor = try visitor(.admin)
        #expect(visitor.only == nil && visitor.mayListen)
        #expect(try visitor.person(nil) == "anna" && visitor.person("bob") == "bob")
    }

    /// This is the operator's choice: programs of any account may read if they can reach the port.
    @Test func whereAnybodyMayReadAnybodyDoes() throws {
        let visitor = try visitor(nil, isOpen: true)
        #expect(visitor.mayRead && visitor.mayListen && visitor.only == nil)
        #expect(try visitor.person("bob") == "bob")
        #expect(try !self.visitor(nil).mayRead && !self.visitor(nil).mayListen)
    }
}
