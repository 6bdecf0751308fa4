/// Where a sample came from: what HealthKit keeps as source revision and device.
public struct Origin: Hashable, Sendable {
    /// The name of the app or device that wrote it, as the person sees it ("Anna’s Apple Watch"). Part of a sample's identity.
    public var sourceName: String
    /// Version of that app or system; empty when unknown.
    public var sourceVersion: String
    /// "iPhone14,2", "Watch6,1"; empty when unknown (exports don't have it; pushes may).
    public var productType: String
    /// The device description without its memory address (it changes between exports): "name:Apple Watch, manufacturer:Apple
    /// Inc., model:Watch, hardware:Watch6,1, software:9.0"; empty when there is none.
    public var device: String

    /// An origin with what is given; the rest is unknown.
    public init(sourceName: String, sourceVersion: String = "", productType: String = "", device: String = "") {
        self.sourceName = sourceName
        self.sourceVersion = sourceVersion
        self.productType = productType
        self.device = device
    }
}

extension Origin {
    /// The source of what Health Auto Export sends without naming one.
    package static let autoExportSource = "Health Auto Export"

    /// What stands for the source where a sender names none: it says nothing of who recorded a sample.
    package static let unnamedSources: Set = ["", autoExportSource]
}
