import Configuration
import Foundation
import HandlerKit
import HealthModel
import Testing

/// There is no list of handlers: they are found by the names in the manifests.
@Suite struct LinkedHandlerTests {
    @Test func everyHandlerOfThisReleaseIsFoundByItsName() throws {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
            .deletingLastPathComponent().path
        let catalog = try PluginCatalog(folder: root + "/plugins", programs: "")
        let handlers = catalog.manifests.values.filter { $0.kind == .handler && $0.exec == nil }
        #expect(handlers.count >= 7)
        for manifest in handlers {
            #expect(LinkedHandler.named(manifest.name)?.version == manifest.version, "\(manifest.name)")
        }
        #expect(LinkedHandler.named("steps-python") == nil && LinkedHandler.named("") == nil)
    }
}
