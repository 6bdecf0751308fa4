import Foundation
import Terminal

/// A stack's graph as text: boxes, one row for each step of the data, and the connections from each row to the next.
package struct GraphDrawing: Sendable {
    private let graph: StackGraph

    package init(_ graph: StackGraph) { self.graph = graph }

    /// - Parameter width: in columns; a longer name isn't cut.
    package func lines(width: Int, terminal: Terminal) -> [String] {
        var lines: [String] = []
        if !graph.entrances.isEmpty {
            lines += ["phones, programs"] + Self.wrapped("POST ▶ ", graph.entrances, indent: "   │ ", width: width)
            lines.append("   ▼")
        }
        let layers = graph.layers
        for layer in layers {
            lines += boxes(layer, width: width, terminal: terminal)
            let names = Set(layer.map(\.name))
            let leaving = Self.grouped(graph.edges.filter { $0.kind == .data && names.contains($0.from) })
            for (what, targets) in leaving {
                lines += Self.wrapped(what + " ▶ ", targets, indent: "   │ ", width: width)
            }
            if !leaving.isEmpty { lines.append("   ▼") }
        }
        let back = graph.edges.filter { $0.kind != .data }
        if !back.isEmpty {
            lines += ["", "Beside the data:"]
            for edge in Self.merged(back) {
                lines += Self.wrapped(
                    "\(edge.topic): \(edge.from.joined(separator: ", ")) ▶ ", edge.to, indent: "  ", width: width)
            }
        }
        let hub = graph.hub.map { "All messages go through '\($0)'." } ?? "The hub runs elsewhere."
        return lines + ["", hub + " Everyone sends heartbeat.<instance> regularly,"]
            + ["asks on pull.<producer>, and gets the answer on page.<instance>."]
    }

    /// All targets of each topic, whatever the origin, in the order of their first edge.
    private static func grouped(_ edges: [StackGraph.Edge]) -> [(what: String, targets: [String])] {
        merged(edges).map { ("\($0.topic)", $0.to) }
    }

    /// Merges edges that have the same kind of topic, whichever instances they connect: sync.body and sync.steps become
    /// `sync.<instance>`.
    private static func merged(_ edges: [StackGraph.Edge]) -> [(topic: String, from: [String], to: [String])] {
        var groups: [(topic: String, from: [String], to: [String])] = []
        for edge in edges {
            let family = edge.topic.split(separator: ".").first.map(String.init) ?? edge.topic
            var topic = edge.topic
            if edge.topic == "\(family).\(edge.to)" { topic = "\(family).<instance>" }
            if edge.topic == "\(family).\(edge.from)" { topic = "\(family).<metric>" }
            if let index = groups.firstIndex(where: { $0.topic == topic }) {
                if !groups[index].from.contains(edge.from) { groups[index].from.append(edge.from) }
                if !groups[index].to.contains(edge.to) { groups[index].to.append(edge.to) }
            } else {
                groups.append((topic, [edge.from], [edge.to]))
            }
        }
        return groups
    }

    private func boxes(_ layer: [StackGraph.Node], width: Int, terminal: Terminal) -> [String] {
        var lines: [String] = []
        var row = ["", "", ""]
        for node in layer {
            let text = node.name + (node.state.map { $0 == "ready" ? "" : " (\($0))" } ?? "")
            let bar = String(repeating: "─", count: DisplayWidth.of(text) + 2)
            if !row[0].isEmpty, DisplayWidth.of(row[0]) + 1 + DisplayWidth.of(bar) + 2 > width {
                lines += row
                row = ["", "", ""]
            }
            let gap = row[0].isEmpty ? "" : " "
            row[0] += gap + "┌" + bar + "┐"
            row[1] += gap + "│ " + text + " │"
            row[2] += gap + "└" + bar + "┘"
        }
        return lines + row
    }

    private static func wrapped(_ head: String, _ words: [String], indent: String, width: Int) -> [String] {
        var lines: [String] = []
        var line = indent + head
        for (index, word) in words.enumerated() {
            let piece = word + (index + 1 < words.count ? ", " : "")
            if DisplayWidth.of(line) + DisplayWidth.of(piece) > width, line != indent + head {
                lines.append(line.withoutTrailingSpaces)
                line = indent + String(repeating: " ", count: min(4, head.count))
            }
            line += piece
        }
        return lines + [line]
    }
}

extension StackGraph {
    /// For Graphviz.
    package var dot: String {
        func quoted(_ text: String) -> String {
            "\"" + text.replacingOccurrences(of: "\\", with: "\\\\").replacingOccurrences(of: "\"", with: "\\\"") + "\""
        }
        var lines = ["digraph healthbus {", "  rankdir=LR;", "  node [shape=box, fontname=\"sans-serif\"];"]
        for node in nodes {
            let label = node.name + (node.state.map { "\\n\($0)" } ?? "")
            let color = node.state.map { $0 == "ready" ? ", color=darkgreen" : ", color=red" } ?? ""
            // A label's line break is written as Graphviz's own escape.
            lines.append("  \(quoted(node.name)) [label=\"\(label)\"\(color)];")
        }
        for entrance in entrances {
            lines.append("  \"phones, programs\" [shape=plaintext];")
            lines.append("  \"phones, programs\" -> \(quoted(entrance)) [label=\"POST\"];")
        }
        for edge in edges {
            let style = edge.kind == .data ? "" : ", style=dashed"
            lines.append("  \(quoted(edge.from)) -> \(quoted(edge.to)) [label=\(quoted(edge.topic))\(style)];")
        }
        return (lines + ["}"]).joined(separator: "\n") + "\n"
    }
}
