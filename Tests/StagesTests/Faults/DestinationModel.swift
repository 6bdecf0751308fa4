import FHIRStage
import FilesStage
import Foundation
import HealthModel
import HomeAssistantStage
import PostgresStage
import Simulation
import StageKit

/// A destination besides the backend, in memory or in a scratch folder, that fails, forgets and goes back.
protocol DestinationModel: AnyObject {
    /// How likely a request is to go wrong.
    var failureRate: Double { get set }
    func perform(_ effect: Effect, of host: SimulatedHost) throws
    /// Everything in it is gone.
    func forget() throws
    /// It is again what it was at the last call, as after a restore of its own; nothing happens at the first.
    /// - Returns: whether it changed.
    func rollBack() throws -> Bool
    /// Whether anything was asked of it since the last call.
    func takeIsBusy() -> Bool
    /// What it shows, by name, without what depends on the order of events: versions, and how often a day was revised.
    func contents() throws -> [String: Value]
    /// Whether it keeps what the stack no longer knows of, and says so as `beyond`. Otherwise it shows nothing else.
    var keepsWhatIsBeyond: Bool { get }
    /// Whether what it shows depends on the date.
    var showsToday: Bool { get }
}

extension DestinationModel {
    var showsToday: Bool { false }
}

/// The destinations that have a model. Each script has one of them, besides the backend.
enum ModelledDestination: String, CaseIterable {
    case files, postgres, fhir, fhirByID
    case homeAssistant = "home-assistant"

    /// The one that a script has.
    static func of(script: UInt64) -> Self { allCases[Int(script % UInt64(allCases.count))] }

    var plugin: StagePlugin {
        switch self {
        case .files: .files
        case .postgres: .postgres
        case .fhir, .fhirByID: .fhir
        case .homeAssistant: .homeAssistant
        }
    }

    /// - Parameter folder: where it may put files of its own.
    func configuration(folder: String) throws -> [String: Value] {
        switch self {
        case .files: return ["settleSeconds": 1]
        case .postgres:
            let file = folder + "/postgres-url"
            try "postgresql://healthbus@127.0.0.1:5432/health".write(toFile: file, atomically: true, encoding: .utf8)
            return ["urlFile": .string(file), "retryBaseSeconds": 0.2, "retryCapSeconds": 4]
        case .fhir, .fhirByID:
            return [
                "server": .string(FHIRModel.url), "elementsPerRequest": 25, "retryBaseSeconds": 0.2,
                "retryCapSeconds": 4, "ids": self == .fhir ? "server" : "client",
                "createPatients": .bool(self == .fhirByID),
            ]
        case .homeAssistant: return [:]
        }
    }

    func model(in stack: SimulatedStack) throws -> any DestinationModel {
        switch self {
        case .files: FilesModel(folder: stack.world.folder.path + "/files-delivered", in: stack.world)
        case .postgres: PostgresModel(in: stack.world)
        case .fhir, .fhirByID: try FHIRModel(in: stack)
        case .homeAssistant: BrokerModel(in: stack.world)
        }
    }
}
