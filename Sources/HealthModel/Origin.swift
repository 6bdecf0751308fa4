/// Where a sample came from: what HealthKit stores as source revision and device.
public struct Origin: Hashable, Sendable {
    /// The name of the app or device that wrote the sample, as its owner sees it ("Anna’s Apple Watch"). It is part of
    /// a sample's identity.
    public var sourceName: String
    /// The version of that app or system; empty when unknown.
    public var sourceVersion: String
    /// For example "iPhone14,2" or "Watch6,1"; empty when unknown (exports don't have it; pushes may).
    public var productType: String
    /// The device description without its memory address, which changes between exports: "name:Apple Watch,
    /// manufacturer:Apple Inc., model:Watch, hardware:Watch6,1, software:9.0"; empty when there is none.
    public var device: String
    /// Other names that the source has had; empty unless it was renamed. Only slices have them.
    public var otherNames: [String] = []

    /// An origin with these values; those not given are unknown.
    public init(sourceName: String, sourceVersion: String = "", productType: String = "", device: String = "") {
        (self.sourceName, self.sourceVersion, self.productType) = (sourceName, sourceVersion, productType)
        self.device = device
    }
}

extension Origin {
    /// The source assigned to data that Health Auto Export sends without naming one.
    package static let autoExportSource = "Health Auto Export"

    /// Placeholders for samples whose sender names no source: they don't say which app or device recorded the sample.
    package static let unnamedSources: Set = ["", autoExportSource]
}
