import Configuration
import Foundation
import HealthModel
import Inspection
import Synchronization
import Testing

@Suite struct ViewListTests {
    /// The units are those of the manifests, and of the columns that every stack has.
    @Test func columnsComeWithTheirUnits() throws {
        let catalog = try PluginCatalog(
            folder: Checkout.root.appending(path: "plugins").path, programs: "/nowhere")
        let text = Mutex<[UInt8]>([])
        let output = RowOutput(ViewList.columns, .json) { bytes in
            text.withLock { $0 += bytes }
            return true
        }
        try ViewList.write(figures: try StackConfiguration(path: nil, catalog: catalog).figures, to: output)
        let rows = try #require(try Value(json: text.withLock { $0 }).array)
        func unit(_ table: String, _ column: String) -> Value? {
            rows.first { $0["table"].string == table && $0["column"].string == column }?["unit"]
        }
        #expect(unit("days", "distance_meters") == "m" && unit("hours", "heart_rate") == "count/min")
        #expect(unit("nights", "deep_minutes") == "min" && unit("workouts", "active_energy_kcal") == "kcal")
        #expect(unit("samples", "value") == .null && unit("days", "workouts") == .null)
        #expect(unit("days", "nothing") == nil)
        #expect(Set(rows.compactMap { $0["table"].string }).count == 8)
    }
}
