/// The priority of sources where samples overlap; the source with rank 0 comes first.
public enum SourceRank {
    /// The default order: manual entries (0), then watches (1), then iPhones and iPods (2), then everything else (3).
    ///
    /// A source is recognized by its device's model or hardware; failing that, by its product type; and failing that,
    /// by its name. The Health app puts manual entries before Apple's devices, and these before other sources;
    /// preferring a watch to a phone is common practice.
    public static func rank(origin: Origin, userEntered: Bool) -> Int {
        if userEntered { return 0 }
        let model = DeviceText.field("model", of: origin.device) ?? DeviceText.field("hardware", of: origin.device)
        if let model, !model.isEmpty { return rank(product: model) }
        if !origin.productType.isEmpty { return rank(product: origin.productType[...]) }
        return rank(name: origin.sourceName)
    }

    /// Whether a watch, iPhone or iPod recorded it, as far as the origin says.
    package static func isAppleDevice(_ origin: Origin) -> Bool { rank(origin: origin, userEntered: false) < other }

    private static let other = 3

    private static func rank(product: Substring) -> Int {
        if product.hasPrefix("Watch") { return 1 }
        return product.hasPrefix("iPhone") || product.hasPrefix("iPod") ? 2 : other
    }

    /// Whole words only: "WatchMate" is an app, while "Anna’s Apple Watch" is a watch.
    private static func rank(name: String) -> Int {
        let words = name.split { !$0.isLetter && !$0.isNumber }
        if words.contains("Watch") { return 1 }
        return words.contains("iPhone") || words.contains("iPod") ? 2 : other
    }
}

/// The default order, or an order set by the user.
public struct SourceOrder: Sendable, Hashable {
    private let places: [String: Int]

    /// - Parameter names: source names, highest priority first; they come before all sources that aren't named. Manual
    ///   entries stay first.
    public init(_ names: [String] = []) {
        var places: [String: Int] = [:]
        for name in names where places[name] == nil { places[name] = places.count }
        self.places = places
    }

    /// Whether a rank is that of a source that the user put in order, or entered by hand.
    package func isChosen(_ rank: Int) -> Bool { rank <= places.count }

    /// 0 for manual entries, then the named sources in the given order, then the others in the default order.
    public func rank(origin: Origin, userEntered: Bool) -> Int {
        if userEntered { return 0 }
        if let place = places[origin.sourceName] { return 1 + place }
        // A renamed source keeps its place.
        if !places.isEmpty, let place = origin.otherNames.compactMap({ places[$0] }).min() { return 1 + place }
        return places.count + SourceRank.rank(origin: origin, userEntered: false)
    }
}
