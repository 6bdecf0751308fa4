import Client
import Configuration
import HealthModel
import MessageBus
import Protocol
import TestSupport
import Testing

/// What a tool keeps of its questions.
@Suite(.inTurn, .timeLimit(.minutes(30))) struct StackClientTests {
    /// A question that wasn't answered in time is forgotten: it isn't repeated beside later ones, and its late answer
    /// isn't theirs.
    @Test func aQuestionThatIsNotAnsweredInTimeIsForgotten() throws {
        let folder = try TemporaryFolder()
        let address = BusAddress(folder: folder.path)
        let hub = try RunningForwarder(address)
        // It is the producer, and never answers in time.
        let producer = try Listener(address, [.exact(PullHeader.topic("sender"))])
        try #require(producer.hears(producer.bus))
        let client = try StackClient(address: address)
        func asked() -> [PullHeader] { producer.messages.compactMap { $0.body.read(PullHeader.self) } }
        func ask(within seconds: Double) throws {
            #expect(try client.ask("sender", .changes(), within: seconds)?.count == nil)
        }

        // Requests sent before everything is connected are lost.
        let isHeard = try eventually {
            try ask(within: 0.5)
            return !asked().isEmpty
        }
        try #require(isHeard)
        let abandoned = asked()
        for pull in abandoned {
            let late = PageHeader(pull, producer: "sender").body(error: PageHeader.refused, reason: "too late")
            producer.bus?.send(message(PageHeader.topic(client.name), late))
        }
        // A request that isn't answered is repeated under a higher number after a second, and so would the first one be.
        let isRepeated = try eventually {
            try ask(within: 1.5)
            return asked().contains { ($0.attempt ?? 0) > 0 }
        }
        #expect(isRepeated)
        let first = Set(abandoned.map(\.id))
        let later = asked().map(\.id).drop(while: { first.contains($0) })
        #expect(later.allSatisfy { !first.contains($0) })

        client.close()
        producer.close()
        #expect(hub.stop())
    }
}
