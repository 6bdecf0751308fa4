import BackgroundDelivery

/// The observer: the device, and which consumers are registered for what.
package struct DeliveryQuery: Query {
    package typealias Answer = DeliveryPage
    package static let name = "delivery"
}

extension Query where Self == DeliveryQuery { package static var delivery: Self { Self() } }

/// The device, and which consumers are registered for what.
package struct DeliveryPage: PageContent, Equatable {
    package var device: DeviceState
    package var registrations: KeptRegistrations

    package init(device: DeviceState, registrations: KeptRegistrations) {
        (self.device, self.registrations) = (device, registrations)
    }
}
