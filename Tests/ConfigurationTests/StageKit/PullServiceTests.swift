import BackgroundDelivery
import Changelog
import HealthModel
import MessageBus
import Protocol
import SQLite
import StageKit
import Synchronization
import TestSupport
import Testing

@Suite struct PullServiceTests {
    private final class Heard: Sendable {
        let lost = Mutex<[String]>([])
        let errors = Mutex<[Value]>([])
    }

    /// Asks for rows after a position that the store hasn't reached.
    private func ask(as consumer: String, _ query: (any Query)? = nil) throws -> (lost: [String], errors: [Value]) {
        let folder = try TemporaryFolder()
        let store = try StageDatabase(path: folder.path + "/state.sqlite")
        try store.transaction { try KeyedChangelog.createTables(in: store.database) }
        let heard = Heard()
        let service = PullService(
            instance: "sleep", log: .silent,
            notice: { notice in
                heard.lost.withLock {
                    switch notice {
                    case .lostRows(let generation): $0.append(generation)
                    case .renew(let renewal, _): $0.append("renew above \(renewal.above.value)")
                    }
                }
            },
            send: { _, body in heard.errors.withLock { $0.append(body["error"]) } })
        let place = PullPlace(of: store.head, after: query == nil ? store.head.sequence.next : .beginning)
        let pull = Pull(id: 1, producer: "sleep", question: Question(query ?? ChangesQuery.changes(), place))
        var client = PullClient(consumer: consumer)
        try service.serve(
            client.begin(pull, at: 0).body, store.database, ChangelogSource(database: store.database))
        return (heard.lost.withLock { $0 }, heard.errors.withLock { $0 })
    }

    @Test func aConsumersAnchorProvesThatRowsAreLost() throws {
        let (lost, errors) = try ask(as: "consolidator")
        #expect(lost.count == 1 && errors == [.string(PageHeader.reset)])
    }

    /// A destination's process has a store raised above what the destination holds; a tool can't, nor can anybody leave
    /// it without versions to give out.
    @Test func versionsAreRenewedForAConsumer() throws {
        let renewal = Renewal(above: 7_000_000, rows: [[0, 3]])
        let (asked, errors) = try ask(as: "uploader", .renew(renewal))
        #expect(asked == ["renew above 7000000"] && errors == [.null])
        #expect(try ask(as: "client-7-9", .renew(renewal)).lost == [])
        let far = Renewal(above: SequenceNumber(Renewal.highest.value + 1))
        let (none, refused) = try ask(as: "uploader", far)
        #expect(none == [] && refused == [.string(PageHeader.refused)])
    }

    private final class Failing: PullSource {
        private let code: DeliveryError.Code

        init(code: DeliveryError.Code) { self.code = code }

        static let answers: [QueryAnswer<Failing>] = [.by(Failing.fail)]

        private func fail(_: TypesQuery, _: Asking, _: (TypesPage, Bool) -> Void) throws {
            throw DeliveryError(code, "sleep", remedy: "do something")
        }
    }

    @Test func errorsAreThoseOfTheProtocol() throws {
        let folder = try TemporaryFolder()
        let store = try StageDatabase(path: folder.path + "/state.sqlite")
        for (code, error) in [
            (DeliveryError.Code.databaseInaccessible, "databaseInaccessible"), (.authorizationDenied, "refused"),
            (.invalidArgument, "refused"),
        ] {
            let heard = Heard()
            let service = PullService(
                instance: "observer", log: .silent, notice: { _ in },
                send: { _, body in heard.errors.withLock { $0 += [body["error"], body["reason"]] } })
            let pull = Pull(id: 1, producer: "observer", question: Question(.types))
            var client = PullClient(consumer: "sleep")
            try service.serve(client.begin(pull, at: 0).body, store.database, Failing(code: code))
            #expect(heard.errors.withLock { $0 } == [.string(error), "do something"])
        }
    }

    /// A tool only passes on a position that it was given: otherwise anyone who may ask through it could start a new
    /// history.
    @Test(arguments: ["client-7-9", "client-dashboard-7-9"]) func aToolsPositionProvesNothing(_ name: String) throws {
        let (lost, errors) = try ask(as: name)
        #expect(lost == [] && errors == [.string(PageHeader.reset)])
    }
}
