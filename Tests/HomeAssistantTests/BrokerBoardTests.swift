import HomeAssistantStage
import Testing

@Suite struct BrokerBoardTests {
    private static let topics = MQTTTopics(base: "h", discoveryPrefix: "ha")
    private static let config = topics.discovery("me--steps")
    private static let today = topics.day(of: "me", .today)
    private static let wanted = [config: "{}", today: "1", topics.status: "online"]

    private func settled() -> BrokerBoard {
        var board = BrokerBoard(Self.topics)
        board.want(Self.wanted)
        board.accept(board.due(mayRemove: true))
        return board
    }

    @Test func descriptionsComeBeforeStatesAndTheStackIsThereAtLast() {
        var board = BrokerBoard(Self.topics)
        board.want(Self.wanted)
        #expect(board.due(mayRemove: false).map(\.topic) == [Self.config, Self.today, Self.topics.status])
    }

    @Test func onlyWhatDiffersIsSent() {
        var board = settled()
        #expect(board.due(mayRemove: true).isEmpty)
        board.want(Self.wanted.merging([Self.today: "2"]) { $1 })
        #expect(board.due(mayRemove: true) == [.init(topic: Self.today, payload: "2")])
    }

    @Test func aBrokerThatMayHaveForgottenGetsEverything() {
        var board = settled()
        board.forget()
        #expect(board.due(mayRemove: true).map(\.payload) == ["{}", "1", "online"])
    }

    @Test func whatIsGoneIsEmptiedOnceTheContentIsComplete() {
        var board = settled()
        board.want([Self.topics.status: "online"])
        #expect(board.due(mayRemove: false).isEmpty)
        let gone = board.due(mayRemove: true)
        #expect(gone == [.init(topic: Self.config, payload: ""), .init(topic: Self.today, payload: "")])
        board.accept(gone)
        #expect(board.due(mayRemove: true).isEmpty)
    }

    /// Even if the connection breaks in the middle of it.
    @Test func aRemovalIsNotForgotten() {
        var board = settled()
        board.want([Self.topics.status: "online"])
        board.forget()
        #expect(board.due(mayRemove: true).map(\.payload) == ["", "", "online"])
    }

    @Test func strangersUnderOurNamesAreEmptiedAndOthersAreLeftAlone() {
        var board = settled()
        let old = Self.topics.discovery("anna--steps")
        for topic in [old, Self.today, "ha/sensor/other/x/config", "h2/me/today"] { board.found(topic) }
        #expect(board.due(mayRemove: true) == [.init(topic: old, payload: "")])
    }

    @Test func aWillThatComesLateIsOverwritten() {
        var board = settled()
        board.doubt(Self.topics.status)
        #expect(board.due(mayRemove: true) == [.init(topic: Self.topics.status, payload: "online")])
    }
}
