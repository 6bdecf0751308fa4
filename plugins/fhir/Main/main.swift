import FHIRStage
import StageKit

// Delivers samples, days, nights and workouts to a FHIR server.
PluginProgram.run(.fhir)
