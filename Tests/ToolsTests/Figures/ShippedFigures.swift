import Configuration
import Figures
import Foundation
import Logging
import Terminal

/// The figures that are declared by the manifests of this checkout.
enum ShippedFigures {
    static let all: [FigureDeclaration] = {
        let catalog = try? PluginCatalog(
            folder: Checkout.root.appending(path: "plugins").path, programs: "/nowhere")
        return (try? catalog.map { try StackConfiguration(path: nil, catalog: $0).figures }) ?? []
    }()
}

extension ExplainedMetric {
    init(_ text: String, held: Set<String> = []) throws(Failure) {
        try self.init(text, figures: ShippedFigures.all, held: held)
    }

    static var names: [String] { ShippedFigures.all.compactMap { $0.explanation?.names.first } }
}
