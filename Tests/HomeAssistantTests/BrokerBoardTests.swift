import HomeAssistantStage
import Testing

@Suite struct BrokerBoardTests {
    private static let topics = MQTTTopics(base: "h", discoveryPrefix: "ha")
    private static let config = topics.discovery("me--steps")
    private static let today = topics.day(of: "me", .today)
    private static let wanted = [config: "{}", today: "1", topics.status: "online"]

    private func board() -> BrokerBoard {
        var board = BrokerBoard(Self.topics)
        for (topic, payload) in Self.wanted { board.want(topic, payload) }
        return board
    }

    private func settled() -> BrokerBoard {
        var board = board()
        send(&board)
        return board
    }

    /// Sends whatever is due, and acknowledges it as a broker would.
    @discardableResult
    private func send(_ board: inout BrokerBoard) -> [BrokerBoard.Post] {
        let posts = board.due(mayRemove: true)
        board.send(posts)
        board.accept()
        return posts
    }

    /// As if the person no longer existed.
    private func emptied() -> BrokerBoard {
        var board = settled()
        board.want(Self.config, nil)
        board.want(Self.today, nil)
        return board
    }

    @Test func descriptionsComeBeforeStatesAndAvailabilityComesLast() {
        #expect(board().due(mayRemove: false).map(\.topic) == [Self.config, Self.today, Self.topics.status])
        #expect(board().due(mayRemove: false, most: 2).map(\.topic) == [Self.config, Self.today])
    }

    @Test func onlyWhatDiffersIsSent() {
        var board = settled()
        #expect(board.due(mayRemove: true).isEmpty && board.isSettled(mayRemove: true))
        board.want(Self.today, "2")
        #expect(board.due(mayRemove: true) == [.init(topic: Self.today, payload: "2")])
        #expect(!board.isSettled(mayRemove: false))
    }

    @Test func whatChangesWhileItIsOnItsWayIsSentAgain() {
        var board = board()
        board.send(board.due(mayRemove: true))
        board.want(Self.today, "2")
        board.accept()
        #expect(board.due(mayRemove: true) == [.init(topic: Self.today, payload: "2")])
    }

    @Test func aBrokerThatMayHaveForgottenGetsEverything() {
        var board = settled()
        board.forget()
        #expect(board.due(mayRemove: true).map(\.payload) == ["{}", "1", "online"])
    }

    @Test func whatIsGoneIsEmptiedOnceTheContentIsComplete() {
        var board = emptied()
        #expect(board.due(mayRemove: false).isEmpty && board.isSettled(mayRemove: false))
        #expect(!board.isSettled(mayRemove: true))
        let gone = send(&board)
        #expect(gone == [.init(topic: Self.config, payload: ""), .init(topic: Self.today, payload: "")])
        #expect(board.due(mayRemove: true).isEmpty)
    }

    /// A removal isn't forgotten, even if the connection breaks in the middle of it.
    @Test func aRemovalIsNotForgotten() {
        var board = emptied()
        board.forget()
        #expect(board.due(mayRemove: true).map(\.payload) == ["", "", "online"])
        board.send(board.due(mayRemove: true))
        board.forget()
        #expect(board.due(mayRemove: true).map(\.payload) == ["", "", "online"])
    }

    @Test func whatAnEarlierStackLeftIsEmptied() {
        var board = settled()
        let old = Self.topics.discovery("anna--steps")
        board.found(old)
        board.found(Self.today)
        #expect(board.due(mayRemove: true) == [.init(topic: old, payload: "")])
        board.emptied(old)
        #expect(board.due(mayRemove: true).isEmpty)
    }

    @Test func aMessageOfSomebodyElseIsNoticed() {
        var board = settled()
        #expect(!board.isOverwritten(Self.today, "1"))
        #expect(board.isOverwritten(Self.today, "") && board.isOverwritten(Self.topics.status, "offline"))
        board.doubt(Self.topics.status)
        #expect(board.due(mayRemove: true) == [.init(topic: Self.topics.status, payload: "online")])
    }

    /// The broker sends back what we publish, sometimes only after it has acknowledged the next message.
    @Test func ourOwnMessagesAreNotSomebodyElses() {
        var board = settled()
        board.want(Self.today, "2")
        board.send(board.due(mayRemove: true))
        #expect(!board.isOverwritten(Self.today, "1") && !board.isOverwritten(Self.today, "2"))
        #expect(board.isOverwritten(Self.today, "3"))
        // The other message may have arrived before ours or after it, so ours is sent once more.
        board.doubt(Self.today)
        board.accept()
        #expect(board.due(mayRemove: true) == [.init(topic: Self.today, payload: "2")])
    }
}
