import Console
import Foundation
import HealthModel
import PluginKit
import Supervisor

do {
    try Commands.run(Array(CommandLine.arguments.dropFirst()))
} catch let error as ConfigurationError {
    reportAndExit(Failure(error.description, code: .usage), program: "healthbus")
} catch let error as ZoneError {
    reportAndExit(Failure(error.description, code: .usage), program: "healthbus")
} catch let quiet as Quiet {
    exit(quiet.code.rawValue)
} catch {
    reportAndExit(error, program: "healthbus")
}
