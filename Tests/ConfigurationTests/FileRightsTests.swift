import Configuration
import HealthModel
import MessageBus
import Protocol
import TestSupport
import Testing

/// An ingest hands files over as its own tool, and gives no other commands.
@Suite struct FileRightsTests {
    private let rights: BusRights
    private static let tool = "client-ingest-7-9"

    init() throws { rights = BusRights(try StackConfiguration(path: nil, catalog: try .standard())) }

    private func believes(_ from: String, _ topic: String, _ body: Value) -> Bool {
        rights.trust(Message(topic: topic, header: .init(from: from, at: 1), body: body))
    }

    private func offer(_ more: [String: Value] = [:], from sender: String = tool) -> Value {
        .object(
            [
                "command": "import", "id": "a0000000", "path": "/x", "user": "anna", "sender": .string(sender),
            ].merging(more) { $1 })
    }

    @Test func itOffersItsOwnFilesOfAUserAndNothingElse() {
        #expect(believes(Self.tool, "control.observer", offer()))
        #expect(!believes(Self.tool, "control.observer", offer(from: "client-cli-1-2")))
        #expect(!believes(Self.tool, "control.observer", offer(["user": .null])), "nobody's")
        #expect(!believes(Self.tool, "control.observer", offer(["complete": true])), "would delete")
        #expect(!believes("ingest", "control.observer", offer(from: "ingest")), "only its tools do that")
        for command in ["zone", "device", "types", "mend", "register", "sync"] {
            #expect(!believes(Self.tool, "control.observer", ["command": .string(command)]), "\(command)")
        }
        #expect(!believes(Self.tool, "control.debouncer", offer()))
        for other in ["client-sleep-7-9", "client-backend-7-9"] {
            #expect(!believes(other, "control.observer", offer(from: other)), "\(other)")
        }
    }

    @Test func itAsksWhatBecameOfThemAndGivesTheirBytes() throws {
        #expect(believes(Self.tool, "pull.observer", ["consumer": .string(Self.tool), "query": "imports"]))
        #expect(!believes(Self.tool, "pull.observer", ["consumer": .string(Self.tool), "query": "samples"]))
        #expect(!believes(Self.tool, "pull.observer", ["consumer": "client-cli-1-2"]))
        #expect(!believes(Self.tool, "pull.uploader", ["consumer": .string(Self.tool)]))
        #expect(believes(Self.tool, "page.observer", ["producer": .string(Self.tool)]))
        #expect(!believes(Self.tool, "page.sleep", ["producer": .string(Self.tool)]))
        let grant = try #require(rights.grant(.instance("ingest"), name: "ingest"))
        #expect(grant.mayBe(Self.tool) && !grant.mayBe("client-sleep-7-9"))
        #expect(grant.mayHear("pull." + Self.tool) && grant.mayHear("page." + Self.tool))
        #expect(!grant.mayHear("pull.client-cli-1-2") && !grant.mayHear("page.client-cli-1-2"))
        #expect(!grant.mayPublish("control.uploader") && !grant.mayPublish("pull.uploader"))
        let observer = try #require(rights.grant(.instance("observer"), name: "observer"))
        #expect(observer.mayPublish("pull." + Self.tool) && observer.mayPublish("page." + Self.tool))
    }
}
