import Configuration
import Foundation
import HealthModel
import Monitoring
import Terminal
import Testing

/// Which process listens to which others in the shipped stack, as drawn by `healthbus graph`.
struct GraphTests {
    private func graph(_ choices: [String: StackConfiguration.Choice] = [:]) throws -> StackGraph {
        let catalog = try PluginCatalog(
            folder: Checkout.root.appending(path: "plugins").path, programs: "/nowhere")
        return StackGraph(try StackConfiguration(path: nil, choices: choices, catalog: catalog))
    }

    @Test func dataComeInByTheIngestAndGoOnFromStepToStep() throws {
        let graph = try graph()
        #expect(graph.entrances == ["ingest"] && graph.value["entrances"] == ["ingest"])
        let layers = graph.layers.map { Set($0.map(\.name)) }
        func layer(_ name: String) throws -> Int { try #require(layers.firstIndex { $0.contains(name) }) }
        #expect(try layer("ingest") < layer("observer") && layer("observer") < layer("debouncer"))
        #expect(try layer("debouncer") < layer("steps") && layer("uploader") < layer("backend"))
        let pushed = graph.edges.filter { $0.from == "ingest" || $0.to == "ingest" }
        #expect(pushed.map(\.topic).sorted() == ["control.debouncer", "ingest.observer", "ingested.ingest"])
        #expect(pushed.filter { $0.kind == .data }.map(\.to) == ["observer"])
        let lines = GraphDrawing(graph).lines(width: 100, terminal: Terminal(isTerminal: false))
        #expect(lines.prefix(3) == ["phones, programs", "   │ POST ▶ ingest", "   ▼"])
        #expect(graph.dot.contains("\"phones, programs\" -> \"ingest\" [label=\"POST\"]"))
    }

    /// An instance syncs and publishes under its own name, whichever plugin it runs.
    @Test func aSwappedHandlersFiguresHaveTheInstancesName() throws {
        let edges = try graph(["steps": .plugin("steps-python")]).edges
        let published = edges.filter { $0.from == "steps" && $0.to == "consolidator" }.map(\.topic)
        #expect(published.contains("figures.steps") && !published.contains("figures.steps-python"))
        #expect(edges.contains { $0.to == "steps" && $0.topic == "sync.steps" })
    }
}
