/// What Home Assistant learns about a unit: its own name for it, and the device class that permits it.
///
/// Only device classes that permit the unit are used: any other pair is refused or logged as an error. See
/// https://www.home-assistant.io/integrations/sensor/#device-class.
struct SensorKind: Equatable {
    enum StateClass: String {
        /// Adds up over the day, and starts again with each new day.
        case total
        case measurement
    }

    var unit: String?
    var deviceClass: String?

    /// - Parameter unit: as in the figure's declaration.
    init(unit: String) {
        switch unit {
        case "", "count", "counted": (self.unit, deviceClass) = (nil, nil)
        case "m", "km", "cm", "mi", "ft": (self.unit, deviceClass) = (unit, "distance")
        case "kcal", "kJ", "J", "cal": (self.unit, deviceClass) = (unit, "energy")
        case "kg", "g", "mg", "lb", "oz": (self.unit, deviceClass) = (unit, "weight")
        case "min", "s", "h", "d", "ms": (self.unit, deviceClass) = (unit, "duration")
        case "mL", "L": (self.unit, deviceClass) = (unit, "volume")
        case "degC": (self.unit, deviceClass) = ("°C", "temperature")
        case "degF": (self.unit, deviceClass) = ("°F", "temperature")
        case "mmHg": (self.unit, deviceClass) = (unit, "pressure")
        case "km/h", "m/s": (self.unit, deviceClass) = (unit, "speed")
        // A number of hours in which something happened, not a duration: no device class.
        case "hours": (self.unit, deviceClass) = ("h", nil)
        case "count/min": (self.unit, deviceClass) = ("bpm", nil)
        default: (self.unit, deviceClass) = (unit, nil)
        }
    }

    /// Adapts itself to a state class, and returns the one to declare; nil for none.
    mutating func settle(on wanted: StateClass) -> StateClass? {
        switch (deviceClass, wanted) {
        // Home Assistant accepts these only as totals.
        case ("energy"?, .measurement), ("volume"?, .measurement): return nil
        // And it accepts these only as measurements, some of them only in older releases.
        case ("weight"?, .total), ("temperature"?, .total), ("pressure"?, .total), ("speed"?, .total):
            deviceClass = nil
            return .total
        default: return wanted
        }
    }
}
