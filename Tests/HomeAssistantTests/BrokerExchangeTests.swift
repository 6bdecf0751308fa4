import HomeAssistantStage
import MQTT
import Testing

@Suite struct BrokerExchangeTests {
    private static let topics = MQTTTopics(base: "healthbus", discoveryPrefix: "homeassistant")
    private let begin = ContinuousClock.now
    private var exchange = BrokerExchange()

    private mutating func take(_ events: MQTTConnection.Event..., after seconds: Int = 0) -> [BrokerExchange.Step] {
        exchange.take(events, of: Self.topics, at: begin + .seconds(seconds))
    }

    private static func message(_ topic: String, _ text: String, isRetained: Bool = false) -> MQTTConnection.Event {
        .message(topic: topic, payload: Array(text.utf8), isRetained: isRetained)
    }

    @Test mutating func whatIsRetainedIsHeardAndThenLookedAt() {
        let filters = Self.topics.own + [Self.topics.birth]
        #expect(take(.connected) == filters.map { .subscribe($0) } + [.report(.connected)])
        for _ in filters { #expect(take(.subscribed) == []) }
        let found = Heard(topic: "healthbus/me/today", payload: "{}", isRetained: true)
        #expect(take(Self.message(found.topic, found.payload, isRetained: true)) == [.report(.heard([found]))])
        #expect(exchange.isOpen && !exchange.isQuiet)
        #expect(take(after: 1) == [.report(.looked)])
        #expect(exchange.isQuiet && !exchange.hasPublished)
    }

    @Test mutating func aRequestIsDoneOnceAllItsMessagesAreAcknowledged() {
        _ = take(.connected)
        for (number, request) in [(1, 7), (2, 7), (3, 8)] as [(Int32, Int64)] { exchange.sent(number, of: request) }
        #expect(take(.acknowledged(2), .acknowledged(3), .acknowledged(9)) == [.done(8)])
        #expect(take(.acknowledged(1), .acknowledged(1)) == [.done(7)])
        #expect(exchange.hasPublished)
    }

    @Test mutating func onlyANewStartOfHomeAssistantIsReported() {
        let birth = Self.topics.birth
        let steps = take(
            Self.message(birth, "online", isRetained: true), Self.message(birth, "offline"),
            Self.message(birth, "online"))
        #expect(steps == [.report(.born)])
    }

    @Test mutating func nothingIsExpectedOfAConnectionThatHasEnded() {
        _ = take(.connected)
        exchange.sent(1, of: 7)
        let why = MQTTError.connection("it is gone")
        #expect(take(Self.message("healthbus/status", "offline"), .ended(why), .acknowledged(1)) == [.ended(why)])
        #expect(exchange.lose(at: begin) == 0.25)
        #expect(!exchange.isOpen && !exchange.hasPublished && exchange.look == nil)
        _ = take(.connected)
        #expect(take(.acknowledged(1)) == [])
        #expect(exchange.lose(at: begin) == 0.5)
    }
}
