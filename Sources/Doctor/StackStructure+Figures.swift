import Configuration
import HealthModel
import Logging

extension StackStructure {
    /// Figures that share a name: a day's summary contains only the one from the handler whose name sorts first.
    var figures: [Finding] {
        var owners: [String: [StackConfiguration.Instance]] = [:]
        for handler in stack.handlers.sorted(by: { $0.name < $1.name }) {
            for figure in Set(handler.manifest.figures.map { $0.path[0] }) {
                owners[figure, default: []].append(handler)
            }
        }
        return owners.sorted { $0.key < $1.key }.flatMap { figure, handlers -> [Finding] in
            guard let winner = handlers.first else { return [] }
            return handlers.dropFirst().map { loser in
                let wrong = loser.isShipped && !winner.isShipped ? winner : loser
                let other = wrong.name == loser.name ? winner : loser
                return Finding(
                    .warning, stack.file, key: "instances.\(wrong.name)",
                    "declares the figure '\(figure)', and so does \(other.name): summaries have only \(winner.name)'s",
                    remedy: wrong.isShipped
                        ? "leave one of them out: \"\(wrong.name)\": null"
                        : "give it another name in \(wrong.manifest.file)")
            }
        }
    }

    /// A figure that `significantChange` names and no handler has: its threshold would never apply.
    var significantFigures: [Finding] {
        // A running plugin may have figures that its manifest doesn't declare only if it isn't a shipped one.
        let known = Set(
            stack.figures.map { $0.path[0] } + stack.handlers.flatMap { $0.manifest.figures.map { $0.path[0] } }
        )
        .sorted()
        return stack.instances.filter { $0.manifest.kind == .consolidator }.flatMap { instance in
            (instance.configuration["significantChange"].object ?? [:]).keys.sorted()
                .filter { !known.contains($0) }.map { name in
                    Finding(
                        .warning, stack.file, key: "instances.\(instance.name).configuration.significantChange.\(name)",
                        "has no effect: no figure is called '\(name)'",
                        remedy: Nearest.hint(for: name, among: known))
                }
        }
    }
}

extension StackConfiguration.Instance {
    /// Whether its plugin is a shipped one, rather than one named by its folder.
    var isShipped: Bool { !plugin.contains("/") }
}
