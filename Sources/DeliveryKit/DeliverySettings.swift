import Configuration
import HealthModel

/// What a destination's configuration says about which data it gets, and how far it is trusted.
package struct DeliverySettings: Sendable, Equatable {
    /// The backend's URL, without a secret: what is known about a backend is valid only for its address.
    package var address: String
    /// How often to compare what the backend holds with what it accepted.
    package var compareEvery: Duration
    /// How many elements of a metric a backend may refuse in a row, without naming them, before the backend itself is
    /// assumed to be the cause. With 0 the backend is always trusted.
    package var refusedInARow: Int
    /// Whether a person can set that, with the option `trust`.
    package var isTrustChosen: Bool
    package var choice: DeliveryChoice
    /// The maximum number of samples per second, on average; 0 means no limit.
    package var samplesPerSecond: Double
    /// Data from before this time isn't delivered; nil if there is no such limit.
    package var deliverSince: DeliverSince?
    /// The maximum number of elements in a request.
    package var elementsPerRequest: Int
    /// The form in which the destination gets elements, in the destination's own words. When it changes, everything is
    /// delivered again. Empty for the usual form, and for destinations that have only one.
    package var form: String
    /// What the plugin declares.
    package var destination: DestinationDeclaration
    /// How often to compare, element by element, what the destination keeps with what was delivered; nil for never.
    package var proveEvery: Duration?

    package init(
        address: String = "", compareEvery: Duration = .seconds(3600), refusedInARow: Int = 3,
        isTrustChosen: Bool = true, choice: DeliveryChoice = .all, samplesPerSecond: Double = 0,
        deliverSince: DeliverSince? = nil,
        elementsPerRequest: Int = .max, form: String = "",
        destination: DestinationDeclaration = .init(.backend), proveEvery: Duration? = .seconds(86_400)
    ) {
        (self.address, self.compareEvery, self.refusedInARow) = (address, compareEvery, refusedInARow)
        (self.isTrustChosen, self.choice, self.samplesPerSecond) = (isTrustChosen, choice, samplesPerSecond)
        (self.deliverSince, self.elementsPerRequest, self.form) = (deliverSince, elementsPerRequest, form)
        (self.destination, self.proveEvery) = (destination, proveEvery)
    }

    /// The option that says how many refusals in a row are believed.
    package static let trust = "refusedInARow"

    /// Whether the destination keeps versions, and tombstones; one that doesn't takes whatever comes last.
    var keepsVersions: Bool { destination.keeps == .versions }

    /// The selection and its form, as stored: the same text for the same selection.
    var selection: String {
        choice.text + (deliverSince.map { " since \(InstantText.iso8601($0.moment))" } ?? "")
            + (form.isEmpty ? "" : " as \(form)")
    }
}
