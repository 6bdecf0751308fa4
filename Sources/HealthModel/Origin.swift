/// Where a sample came from: what HealthKit keeps as source revision and device.
package struct Origin: Hashable, Sendable {
    /// The name of the app or device that wrote it, as the person sees it ("Anna’s Apple Watch"). Part of a sample's identity.
    package var sourceName: String
    /// Version of that app or system; empty when unknown.
    package var sourceVersion: String
    /// "iPhone14,2", "Watch6,1"; empty when unknown (exports don't have it; pushes may).
    package var productType: String
    /// The device description without its memory address (it changes between exports): "name:Apple Watch, manufacturer:Apple
    /// Inc., model:Watch, hardware:Watch6,1, software:9.0"; empty when there is none.
    package var device: String

    package init(sourceName: String, sourceVersion: String = "", productType: String = "", device: String = "") {
        self.sourceName = sourceName
        self.sourceVersion = sourceVersion
        self.productType = productType
        self.device = device
    }
}
