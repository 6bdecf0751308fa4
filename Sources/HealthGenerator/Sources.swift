/// Which names the devices have in an export: the owner may have renamed them since an earlier one.
struct SourceNaming: Sendable {
    var isRenamed = false
}

/// The sources of samples. Their names are written as in the Health app, with the typographic apostrophe and the
/// no-break space of real ones.
enum RecordSource: Int, CaseIterable, Sendable {
    case watch, phone, scale, byHand, meditation
    // Only in messy lives.
    case band, ring, strap, nights, runs

    func name(_ naming: SourceNaming) -> String {
        switch self {
        case .watch: naming.isRenamed ? "Sam’s Apple\u{00A0}Watch" : "Robin’s Apple\u{00A0}Watch"
        case .phone: naming.isRenamed ? "Sam’s iPhone" : "Robin’s iPhone"
        case .scale: "Balance Scale"
        case .byHand: "Health"
        case .meditation: "Stillness"
        case .band: "Stride Band"
        case .ring: "Halo Ring"
        case .strap: "Chest Strap"
        case .nights: "Night Diary"
        case .runs: "Run Diary"
        }
    }

    private var version: String {
        switch self {
        case .watch: "11.3.1"
        case .phone: "18.3.2"
        case .scale: "6210403"
        case .byHand: "18.3.2"
        case .meditation: "4.2"
        case .band, .ring, .strap: "2.0"
        case .nights, .runs: "7.1"
        }
    }

    private var device: String? {
        switch self {
        case .watch: "name:Apple Watch, manufacturer:Apple Inc., model:Watch, hardware:Watch6,2, software:11.3.1"
        case .phone: "name:iPhone, manufacturer:Apple Inc., model:iPhone, hardware:iPhone14,5, software:18.3.2"
        case .scale: "name:Balance Scale, manufacturer:Balance, model:BS-440, hardware:2.1, software:1871"
        case .byHand, .meditation, .band, .ring, .strap, .nights, .runs: nil
        }
    }

    /// ` sourceName="…" sourceVersion="…" device="…"`; the device has an address that differs in every export, as in
    /// real ones.
    func attributes(address: UInt64, _ naming: SourceNaming) -> String {
        var text = " sourceName=\"\(name(naming))\" sourceVersion=\"\(version)\""
        if let device {
            let pointer =
                "0x" + String(0x3_0000_0000 + (address &+ UInt64(rawValue) &* 0x1_4F20) & 0xFFFF_FFF0, radix: 16)
            text += " device=\"&lt;&lt;HKDevice: \(pointer)&gt;, \(device)&gt;\""
        }
        return text
    }
}

/// A quantity's unit as exports print it in either system, and how many canonical units it equals.
struct PrintedUnit {
    let name: String
    let canonical: Double

    static func of(_ kind: Kind, _ system: UnitSystem) -> PrintedUnit {
        let isMetric = system == .metric
        switch kind {
        case .plain(let unit): return PrintedUnit(name: unit, canonical: 1)
        case .distance:
            return isMetric ? PrintedUnit(name: "km", canonical: 1000) : PrintedUnit(name: "mi", canonical: 1609.344)
        case .energy: return PrintedUnit(name: isMetric ? "kcal" : "Cal", canonical: 1)
        case .mass:
            return isMetric ? PrintedUnit(name: "kg", canonical: 1) : PrintedUnit(name: "lb", canonical: 0.45359237)
        case .height:
            return isMetric ? PrintedUnit(name: "cm", canonical: 0.01) : PrintedUnit(name: "ft", canonical: 0.3048)
        case .step:
            return isMetric ? PrintedUnit(name: "cm", canonical: 0.01) : PrintedUnit(name: "in", canonical: 0.0254)
        case .speed:
            return isMetric
                ? PrintedUnit(name: "km/hr", canonical: 1 / 3.6) : PrintedUnit(name: "mi/hr", canonical: 0.44704)
        }
    }

    enum Kind: Sendable {
        case plain(String)
        case distance, energy, mass, height, step, speed
    }
}
